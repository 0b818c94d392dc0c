"""Disclosure risk: what an attacker learns from a release."""
