"""The decoders of Hugging Face tokenizers, with the same text."""
