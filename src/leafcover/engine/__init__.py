"""Run a plan: release, measure, save, load and verify."""
