"""Evaluate a policy on the clips of a dataset, as the command and the function of Python ask for it."""
