"""Mend recordings before they are judged: level, steady, set down and hold still what feet and forces show to be off."""

from phuma.curation.mending.mend import Mended, Mending, mend

__all__ = ["Mended", "Mending", "mend"]
