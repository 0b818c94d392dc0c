"""``python -m leafcover``."""

from leafcover.cli import main

main()
