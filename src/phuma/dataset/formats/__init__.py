"""Robot motions in the layouts that others read and write: one module a format. docs/exports.md describes them."""

from phuma.dataset.formats.format import Format
from phuma.dataset.formats.registry import FORMATS, export_motion, format_named, import_motion, recognise

__all__ = ["FORMATS", "Format", "export_motion", "format_named", "import_motion", "recognise"]
