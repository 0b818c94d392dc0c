"""Reports: what was measured of a release, as a page for the steward and one for its readers."""
