"""Decision trees as data: grown, pruned, applied, shown."""
