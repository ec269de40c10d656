"""Run work: in processes, on clusters, as compiled code."""
