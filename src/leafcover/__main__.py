"""``python -m leafcover``."""

from leafcover.cli.main import main

main()
