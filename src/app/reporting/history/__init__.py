"""The report of a history: every number of the runs about a subject over time, typed, as a page, and as a table."""
