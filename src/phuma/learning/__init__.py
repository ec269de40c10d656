"""Policies that make a robot do, under physics, what a clip shows."""
