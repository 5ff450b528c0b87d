"""Stand-ins for the Python API of other tokenizers."""
