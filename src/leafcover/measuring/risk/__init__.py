"""The risks of a release: attacks, each scored with its interval, and the standard figures."""
