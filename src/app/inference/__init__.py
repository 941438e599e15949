"""Running a model and its mutants over a data set: one pass for all of them."""
