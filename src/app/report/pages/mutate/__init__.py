"""The page of a classifier's mutation testing: what the test suite kills, and what it does not."""
