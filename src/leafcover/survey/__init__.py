"""A survey that people can answer truthfully: what leaves their device is disguised, and still adds up."""

from leafcover.survey.schema import Question, Survey, read_survey

__all__ = ["Question", "Survey", "read_survey"]
