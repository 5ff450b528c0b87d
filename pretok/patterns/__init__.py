"""Parse the patterns of tokenizers, and find the preset of a pattern."""
