"""The command line: it wires the stages together."""
