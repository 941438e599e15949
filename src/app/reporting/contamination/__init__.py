"""The report of contamination: what the splits of a data set share, typed, as a page, and as tables."""
