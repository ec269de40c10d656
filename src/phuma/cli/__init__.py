"""Run the command line, which wires the stages together."""
