"""Operators and their mutants: what is changed in a model or its input, and how it is applied and undone."""
