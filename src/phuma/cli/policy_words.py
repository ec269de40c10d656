"""What a policy is called on the terminal."""

from __future__ import annotations

from phuma.learning.recipes.recipe import recipe_named, recipe_names


def told_recipe(algo: str, stage: str) -> str:
    """Return the name of a recipe, with the stage's where the recipe has a teacher and a student: `kungfubot's
    student`."""
    return f"{algo}'s {stage}" if algo in recipe_names() and recipe_named(algo).alone else algo
