"""The tasks: one file each, named like it, with one class that reads like its description."""
