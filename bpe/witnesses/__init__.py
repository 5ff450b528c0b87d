"""Finds a text for each token of a vocabulary that encodes to it, or proves that there is none."""
