"""This folder holds studies: questions about data, methods and trackers, each answered by one table. A study is a file
here that defines STUDY; what runs them all is in `frame/`."""
