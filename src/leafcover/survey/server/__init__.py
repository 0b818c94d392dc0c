"""The collector of a survey: the web server that receives answers and shows the survey owner the results."""
