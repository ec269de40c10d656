"""A training run: its loop, its folder and the rollouts of its policy."""
