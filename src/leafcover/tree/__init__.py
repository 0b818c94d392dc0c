"""Decision trees as data: grown, pruned, walked and shown."""
