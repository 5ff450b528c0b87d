"""The decoders of Hugging Face's library tokenizers; they return the same text."""
