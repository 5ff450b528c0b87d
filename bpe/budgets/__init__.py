"""Split and truncate texts by a budget of ids."""
