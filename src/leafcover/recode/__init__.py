"""Recodings: values of columns become coarser or missing before anything else happens, without random draws."""
