"""Reference motions as trackers use them: the library, its expansion, and where episodes begin."""
