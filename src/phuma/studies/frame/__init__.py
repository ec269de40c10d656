"""This folder holds what every study shares: what a study is made of, its plan, its jobs, its folder and its table."""
