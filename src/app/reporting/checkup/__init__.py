"""The front page of a checkup: four questions about one subject, answered by the reports of its parts."""
