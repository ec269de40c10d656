"""Networks of policies and critics."""
