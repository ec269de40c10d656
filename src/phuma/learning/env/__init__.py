"""The environments: many at once, each with a robot that has to follow a motion, and the terms that judge them."""
