"""Encoding and decoding: from a text to ids and back."""
