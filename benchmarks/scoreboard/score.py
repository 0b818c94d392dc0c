"""The figures of one method on one split, and how they are kept as JSON."""

from dataclasses import asdict, dataclass

VERSION = 2  # version of the definitions; a change invalidates stored scores


@dataclass(frozen=True)
class Share:
    """Successes as a share of tries, so that splits can be pooled."""

    value: float
    tries: int


@dataclass(frozen=True)
class Score:
    """Figures of one split; a risk is None if no table is released."""

    accuracy: float  # accuracy for the target on the rows set aside
    agreement: float  # agreement with the tree of the original
    others: float  # the same, the mean over six other targets
    cpu: float
    gigabytes: float = 0.0
    gower: Share | None = None
    by_plan: Share | None = None  # linkage with the plan known, our recipes only
    learned: Share | None = None  # probabilistic linkage, learned from half of the pairs
    occupation: tuple[Share, Share] | None = None  # inference by the strongest attack: released people, control
    income: tuple[Share, Share] | None = None

    def plain(self) -> dict[str, object]:
        """The score as JSON values."""
        return asdict(self)

    @classmethod
    def of(cls, plain: dict[str, object]) -> "Score":
        """The score from the result of `plain`."""
        return cls(**{name: _unpacked(value) for name, value in plain.items()})


def _unpacked(value: object) -> object:
    if isinstance(value, dict):
        return Share(**value)
    return tuple(_unpacked(one) for one in value) if isinstance(value, list | tuple) else value
