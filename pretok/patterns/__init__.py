"""Regular expressions of tokenizers: reading them, and recognizing those that a preset knows."""
