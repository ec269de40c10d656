"""Compose stages: only these modules and the command line know more than one stage."""
