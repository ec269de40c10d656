"""This folder holds the reader and writer of BVH files: any skeleton, whose own proportions become the body."""

from phuma.sources.bvh.reader import FORMAT, read, recognises
from phuma.sources.bvh.writer import write

__all__ = ["FORMAT", "read", "recognises", "write"]
