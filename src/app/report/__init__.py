"""What a report is: a document of typed numbers, a page made of blocks, charts drawn once for both, and its tables."""
