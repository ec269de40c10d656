"""The types that flow between the stages, and the arithmetic that they share. Nothing here knows a file or a stage."""
