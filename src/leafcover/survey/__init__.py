"""Surveys with randomised response: answers are randomised on the respondent's device, and shares are estimated."""

from leafcover.survey.questionnaire import Question, Survey, read_survey

__all__ = ["Question", "Survey", "read_survey"]
