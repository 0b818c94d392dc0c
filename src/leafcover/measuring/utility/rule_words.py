"""Rules and what became of them in words, for the terminal and the steward: cuts are original values."""

from collections import Counter
from collections.abc import Iterator, Sequence
from math import inf

from leafcover.measuring.utility.rules import KINDS, Condition, Difference, Rule
from leafcover.table.table import Table
from leafcover.tree.show import Spell, spelling


def rule_in_words(rule: Rule, *, spell: Spell | None = None) -> str:
    """A rule as half a sentence.

    >>> rule_in_words(Rule((Condition("age", 17, 30), Condition("job", levels=("clerk",))), "poor"))
    'if age is above 17 and at most 30 and job is clerk, then poor'
    """
    asked = " and ".join(_asked(condition, spell or spelling()) for condition in rule.conditions)
    return f"if {asked}, then {rule.answer}" if asked else f"always {rule.answer}"


def _asked(condition: Condition, spell: Spell) -> str:
    if condition.levels:
        return f"{condition.attribute} is {' or '.join(condition.levels)}"
    ends = []
    if condition.low > -inf:
        ends.append(f"above {spell(condition.attribute, condition.low)}")
    if condition.high < inf:
        ends.append(f"at most {spell(condition.attribute, condition.high)}")
    return f"{condition.attribute} is {' and '.join(ends)}"


def difference_in_words(difference: Difference, *, spell: Spell | None = None) -> str:
    """One line that says what became of a rule.

    >>> old, new = (Rule((Condition("age", high=end),), "poor") for end in (30, 32))
    >>> difference_in_words(Difference("cut moved", old, new, 120))
    'Cut moved (120 rows): if age is at most 30, then poor; in the release age at most 32.'
    """
    spell = spell or spelling()
    before, after = difference.original, difference.released
    shown = after if before is None else before
    words = "" if shown is None else rule_in_words(shown, spell=spell)
    changes: list[str] = []
    if before is not None and after is not None:
        changes = [*_moves(before, after, spell), *([after.answer] if after.answer != before.answer else [])]
    count = f"{difference.rows:,.0f}"
    line = f"{difference.kind.capitalize()} ({count} row{'' if count == '1' else 's'}): {words}"
    return line + (f"; in the release {' and '.join(changes)}." if changes else ".")


def _moves(before: Rule, after: Rule, spell: Spell) -> Iterator[str]:
    for old, new in zip(before.conditions, after.conditions, strict=True):
        if old.low != new.low:
            yield f"{new.attribute} above {spell(new.attribute, new.low)}"
        if old.high != new.high:
            yield f"{new.attribute} at most {spell(new.attribute, new.high)}"


def differences_in_words(differences: Sequence[Difference], *, table: Table | None = None, most: int = 20) -> str:
    """How many rules of each kind there are, then the ``most`` that concern most rows, kept ones last.

    ``table`` says how its numbers and dates are written.
    """
    spell = spelling(table)
    counts = Counter(difference.kind for difference in differences)
    head = "Rules: " + ", ".join(f"{counts[kind]:,} {kind}" for kind in KINDS) + "."
    changed = [d for d in differences if d.kind != "kept"]
    shown = (changed + [d for d in differences if d.kind == "kept"])[:most]
    left = len(differences) - len(shown)
    more = [f"… and {left:,} more."] if left else []
    return "\n".join([head, *(difference_in_words(d, spell=spell) for d in shown), *more]) + "\n"
