"""A stand-in for Hugging Face's tokenizers."""

from bpe.compat.huggingface.tokenizer import Tokenizer
