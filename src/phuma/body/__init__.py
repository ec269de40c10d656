"""This folder holds bodies: a rest skeleton of 22 joints, 88 sole points, and the shape spaces that they come from."""

from phuma.body.open import OPEN_SPACE, OpenShape, open_body
from phuma.body.space import ShapeSpace
from phuma.core.body import Body, Pose

__all__ = ["OPEN_SPACE", "Body", "OpenShape", "Pose", "ShapeSpace", "open_body"]
