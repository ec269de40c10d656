"""Learning algorithms and what they store."""
