"""Dialects: the layouts that other projects give to a policy's file, each as one table."""
