"""What a table is, and how it is read and written."""
