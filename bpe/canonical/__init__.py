"""Ids that encoding gives: checks of ids, allowed next ids, and token healing."""
