"""The report of a comparison: verdict first, then what moved, then what could not be compared."""
