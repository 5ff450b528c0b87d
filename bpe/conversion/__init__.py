"""Convert, compare and merge vocabularies."""
