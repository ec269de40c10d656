"""This folder holds the commands as functions of Python: each does what the command of its name does, on the same way.

A source is a path, or what was read before: a motion, a clip, a dataset. What a command prints as its result a function
returns; what it says while it works goes to where the command says it.
"""
