"""Assay: mutation testing, autopsy and operational accuracy of vision models."""

__version__ = "0.1.0"
