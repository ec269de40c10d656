"""Policies outside of training: their description, and as files."""
