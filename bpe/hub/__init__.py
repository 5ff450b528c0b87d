"""Find published vocabularies on this machine, and download them."""
