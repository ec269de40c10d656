"""Run work: in processes, on clusters, as compiled code, and with its progress shown."""
