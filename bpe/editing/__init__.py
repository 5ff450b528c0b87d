"""Change the vocabulary of a tokenizer."""
