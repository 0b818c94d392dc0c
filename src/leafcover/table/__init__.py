"""Tables: what they are, how they are read and written."""
