"""The summary of a sweep: its jobs side by side, with what differs between them and the numbers that stand for each."""
