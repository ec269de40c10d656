"""Files from strangers, read without trust: sizes are checked before memory is taken, and nothing is executed."""
