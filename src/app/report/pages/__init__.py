"""What each report's page shows and says: one file a report, words beside blocks."""
