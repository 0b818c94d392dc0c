"""What the default release of eleven public tables keeps and reveals: `make audit`."""
