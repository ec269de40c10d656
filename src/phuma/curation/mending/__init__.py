"""Mend recordings before they are judged: take out what feet and forces show to be the recording's own fault."""

from phuma.curation.mending.mend import Mended, Mending, mend

__all__ = ["Mended", "Mending", "mend"]
