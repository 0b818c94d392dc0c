"""The engine: release a table by a plan, and measure, save, load and verify the release."""
