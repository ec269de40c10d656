"""Recipes: each states what one tracker observes, what rewards it, its networks and how it learns."""
