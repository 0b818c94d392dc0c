"""Kernels: arrays in, arrays out; no names, no checks, no exceptions."""
