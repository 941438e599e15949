"""Running a detector and its mutants over a data set: class rows, ragged masks, one pass for all mutants."""
