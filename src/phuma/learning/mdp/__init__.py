"""The task of tracking, term by term: pure functions of states."""
