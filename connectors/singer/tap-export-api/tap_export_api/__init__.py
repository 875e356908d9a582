"""Singer tap for the Export API."""
