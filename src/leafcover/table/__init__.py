"""Tables: columns with kinds and roles, and the file formats and data frames they are read from and written to."""
