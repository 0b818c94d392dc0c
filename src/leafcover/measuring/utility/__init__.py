"""What a release kept: trees, predictions, statistics and clusters."""
