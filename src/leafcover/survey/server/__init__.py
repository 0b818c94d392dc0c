"""The collector of a survey: a web server."""
