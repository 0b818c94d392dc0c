"""C4.5's own format."""
from pathlib import Path
from leafcover.table.source import Raw, Source
from leafcover.table.table import Table

def read_c45(path: Path, *, encoding: str) -> tuple[list[Raw], Source]:
    raise NotImplementedError
def write_c45(table: Table, place: Path, *, force: bool) -> None:
    raise NotImplementedError
