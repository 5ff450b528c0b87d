"""File formats of vocabularies: `registry` lists them, `spec` holds what they read and write."""
