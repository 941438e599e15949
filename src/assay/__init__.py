"""Assay's command; what it runs is in the package `app`."""
