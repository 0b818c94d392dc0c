"""How a tree from noisy numbers is grown: where reports are placed, and when a node is divided."""

from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

from leafcover.errors import NameUnknown, ValueOutOfRange
from leafcover.response.additive.sharpen import Stop

Way: TypeAlias = Literal["global", "byclass", "local"]


@dataclass(frozen=True)
class Rules:
    """The settings of a growth, checked."""

    way: Way = "byclass"
    min_records: int = 50
    max_depth: int = 20
    stop: Stop = "change"

    def __post_init__(self) -> None:
        if self.way not in get_args(Way):
            raise NameUnknown("way to grow", self.way, get_args(Way))
        if self.stop not in get_args(Stop):
            raise NameUnknown("rule to stop", self.stop, get_args(Stop))
        if self.min_records < 1:
            raise ValueOutOfRange("min_records", self.min_records, "a whole number of at least 1")
        if self.max_depth < 0:
            raise ValueOutOfRange("max_depth", self.max_depth, "a whole number of at least 0")
