"""This folder holds files at the level of bytes.

They are written whole or not at all, and untrusted files are read without executing anything.
"""
