"""Robot motions as a dataset, and in the layouts of others."""
