"""The figures of one method on one split, and how they are kept as JSON."""

from dataclasses import asdict, dataclass
from typing import Any, Literal, TypeAlias

VERSION = 3  # version of the definitions; a change invalidates stored scores

Kind: TypeAlias = Literal["inference", "area", "found", "copies", "unique", "linkage"]


@dataclass(frozen=True)
class Share:
    """Successes as a share of tries, so that splits can be pooled."""

    value: float
    tries: int


@dataclass(frozen=True)
class Attempt:
    """The success of one attack.

    ``inference``: of a column; ``area``: under the ROC curve of membership; ``found``: members at 1% false alarms;
    ``copies``: people whose record occurs in the release; ``unique``: the same of records that one person has;
    ``linkage``: people whose own row is found.
    """

    kind: Kind
    attack: str
    main: Share  # people in the release
    control: Share | None = None  # people outside it
    column: str = ""


@dataclass(frozen=True)
class Score:
    """Figures of one split; there are no attempts if no table is released."""

    accuracy: float  # accuracy for the target on the rows set aside
    agreement: float  # agreement with the tree of the original
    others: float  # the same, the mean over six other targets
    cpu: float
    gigabytes: float = 0.0
    attempts: tuple[Attempt, ...] = ()
    copied: tuple[str, ...] = ()  # kinds of copies that chance does not explain

    def plain(self) -> dict[str, Any]:
        """The score as JSON values."""
        return asdict(self)

    @classmethod
    def of(cls, plain: dict[str, Any]) -> "Score":
        """The score from the result of `plain`."""
        attempts = tuple(
            Attempt(**(one | {side: _share(one[side]) for side in ("main", "control")})) for one in plain["attempts"]
        )
        return cls(**(plain | {"attempts": attempts, "copied": tuple(plain["copied"])}))


def _share(plain: dict[str, Any] | None) -> Share | None:
    return None if plain is None else Share(**plain)
