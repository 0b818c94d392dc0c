"""The collector: serves the page, checks and keeps what is sent, shows the holder what it adds up to."""
