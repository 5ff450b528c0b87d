"""Find the pre-tokenizer that a tokenizer file names."""
