"""Read and write the project's own file formats, one module per format; docs/formats.md specifies them."""
