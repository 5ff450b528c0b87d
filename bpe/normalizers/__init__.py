"""The normalizers of Hugging Face tokenizers, with the same text and the same alignment."""
