"""The parts of the report: what each section says, in data; one template turns them into a page."""
