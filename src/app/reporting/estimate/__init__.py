"""The report of an estimate: of estimators against known labels, or of labels that people gave."""
