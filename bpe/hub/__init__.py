"""Vocabularies with published names: finding them on this machine, and fetching them."""
