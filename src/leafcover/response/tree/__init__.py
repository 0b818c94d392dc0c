"""Decision trees from disguised answers: grown, tested and pruned by estimated counts alone."""
