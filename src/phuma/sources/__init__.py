"""This folder holds the readers of recordings, one per format; a format is recognised by content."""

from phuma.sources.reader import ReadCfg
from phuma.sources.registry import find_recordings, read, read_all, recognise

__all__ = ["ReadCfg", "find_recordings", "read", "read_all", "recognise"]
