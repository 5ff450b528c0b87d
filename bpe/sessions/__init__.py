"""Keep the ids of texts that change, and of texts that were encoded before."""
