"""The normalizers of Hugging Face's library tokenizers, with the same results and alignments."""
