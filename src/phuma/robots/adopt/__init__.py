"""A robot's folder from its model file: `phuma robot init`."""

from phuma.robots.adopt.adopt import DOUBTS, Adopted, adopt
from phuma.robots.adopt.doubts import Doubt, as_text

__all__ = ["DOUBTS", "Adopted", "Doubt", "adopt", "as_text"]
