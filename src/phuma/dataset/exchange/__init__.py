"""Robot motions in the layouts of other tools, one module per format: see docs/formats/exchange.md."""

from phuma.dataset.exchange.format import Format
from phuma.dataset.exchange.registry import (
    FORMATS,
    READ,
    WRITTEN,
    export_motion,
    format_named,
    import_all,
    import_motion,
    recognise,
)

__all__ = [
    "FORMATS", "READ", "WRITTEN", "Format", "export_motion", "format_named", "import_all", "import_motion", "recognise",
]  # fmt: skip
