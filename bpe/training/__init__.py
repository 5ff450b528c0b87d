"""Training: reading texts, counting pre-tokens, finding merges."""
