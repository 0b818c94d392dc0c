"""The figures of one method on one split, and how they are kept as JSON."""

from dataclasses import asdict, dataclass

VERSION = 2  # of what the figures mean; another one makes stored scores stale


@dataclass(frozen=True)
class Share:
    """Successes as a share of tries, so that splits can be put together."""

    value: float
    tries: int


@dataclass(frozen=True)
class Score:
    """Figures of one split; a risk is None where no table leaves."""

    accuracy: float  # right answers for the target on the rows set aside
    agreement: float  # answers alike to those of the original's tree
    others: float  # the same, the mean over six other targets
    cpu: float
    gigabytes: float = 0.0
    gower: Share | None = None
    by_plan: Share | None = None  # informed linkage by the plan's own law, ours only
    learned: Share | None = None  # informed linkage by a law learned from half of the pairs
    occupation: tuple[Share, Share] | None = None  # inference, strongest attack: of the released, of others
    income: tuple[Share, Share] | None = None

    def plain(self) -> dict[str, object]:
        """As JSON holds it."""
        return asdict(self)

    @classmethod
    def of(cls, plain: dict[str, object]) -> "Score":
        """From what `plain` gave."""
        return cls(**{name: _unpacked(value) for name, value in plain.items()})


def _unpacked(value: object) -> object:
    if isinstance(value, dict):
        return Share(**value)
    return tuple(_unpacked(one) for one in value) if isinstance(value, list | tuple) else value
