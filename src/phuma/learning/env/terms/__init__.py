"""Terms of the tracking task: pure functions of states."""
