"""The report of a detector's evaluation: typed, as a page, as figures and as tables."""
