"""ARFF, the format of Weka: a declared table, whose declarations win over what the values look like."""
from pathlib import Path
from leafcover.table.source import Raw, Source
from leafcover.table.table import Table

def read_arff(path: Path, *, encoding: str) -> tuple[list[Raw], Source]:
    raise NotImplementedError
def write_arff(table: Table, target: Path) -> None:
    raise NotImplementedError
