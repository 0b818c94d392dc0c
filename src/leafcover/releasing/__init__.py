"""From a plan to a released table."""
