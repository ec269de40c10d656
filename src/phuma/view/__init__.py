"""Looking at motion: stills and time-lines."""
