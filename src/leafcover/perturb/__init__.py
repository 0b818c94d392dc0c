"""Perturbations: how values change within their cells."""
