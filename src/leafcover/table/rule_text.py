"""Read a rule between columns from its text. The text is parsed, never executed."""

import re
from collections.abc import Iterable, Iterator, Sequence

from leafcover.errors import PlanError
from leafcover.table.column_rules import (
    ColumnRule,
    Determines,
    Implies,
    LevelCondition,
    Linear,
    MissingTogether,
    Moment,
    Pairs,
    Relation,
    Sum,
)

TOKEN = re.compile(
    r"""\s*(?: (?P<quoted>"(?:[^"\\]|\\.)*" | '(?:[^'\\]|\\.)*' | `(?:[^`\\]|\\.)*`)
      | (?P<number>\d+(?:\.\d*)?(?:[eE][+-]?\d+)?|\.\d+)
      | (?P<sign>->|=>|==|!=|<=|>=|<|>|=|\+|-|\*|\(|\)|,)
      | (?P<word>[^\W\d]\w*(?:\.\w+)*) )""",
    re.VERBOSE,
)

IMPLICATION = (
    'An implication is about levels of categories and missing values: write it like \'if job == "none" then wage is '
    "missing', with ==, !=, in (...), not in (...), is missing or is known on both sides. For a condition on a number, "
    "such as age < 15, read the number as intervals first (recode 'age: intervals 15') and name the level: "
    '\'if age == "under 15" then job == "none"\'.'
)


def parse_rule(text: str, names: Iterable[str] = ()) -> ColumnRule:
    """The rule that a text says.

    Parameters
    ----------
    text : str
        Such as ``"total == a + b"``, ``"start <= end"`` or ``"city -> state"``.
    names : iterable of str, optional
        Known column names; those that contain blanks or signs then need no quotes.

    Examples
    --------
    >>> rule = parse_rule("total = food + rent")
    >>> rule.text, rule.columns
    ('total == food + rent', ('total', 'food', 'rent'))
    >>> parse_rule("education-num <= age", ["age", "education-num"]).columns
    ('education-num', 'age')
    """
    return _Parser(text, names).rule()


def parse_condition(text: str, names: Iterable[str] = ()) -> LevelCondition:
    """The condition on the levels of a column that a text says.

    >>> str(parse_condition("job in ('pilot', 'diver')"))
    'job in ("pilot", "diver")'
    """
    parser = _Parser(text, names)
    found = parser._condition()
    if parser.at < len(parser.tokens):
        raise parser._wrong("the end")
    return found


class _Parser:
    """Reads a rule from left to right, one token at a time."""

    def __init__(self, text: str, names: Iterable[str]) -> None:
        self.text = text
        odd = [name for name in names if name.strip() and not re.fullmatch(r"[^\W\d]\w*", name)]
        self.tokens = list(_tokens(text, sorted(odd, key=len, reverse=True)))
        self.at = 0

    def rule(self) -> ColumnRule:
        found = self._rule()
        if self.at < len(self.tokens):
            raise self._wrong("the end")
        return found

    def _rule(self) -> ColumnRule:
        if self._taken("word", "if"):
            condition = self._condition()
            self._expect("word", "then")
            return Implies(condition, self._condition())
        if self._is_call("missing"):
            return MissingTogether(self._several())
        if self._is_call("pairs"):
            return Pairs(self._several())
        left = self._sum()
        if isinstance(left, str) and self._taken("sign", "->"):
            return Determines(left, self._name())
        return self._comparison(left)

    def _comparison(self, left: "Sum | str") -> ColumnRule:
        sign = next((s for s in ("==", "=", "<=", ">=", "<", ">") if self._taken("sign", s)), None)
        if sign is None:
            raise self._wrong("==, <=, <, >=, > or ->")
        for function in Moment.FUNCTIONS:
            if sign in ("==", "=") and isinstance(left, str) and self._is_call(function):
                (of,) = self._names(1)
                return Moment(left, function, of)  # type: ignore[arg-type]
        one, other = _as_sum(left), _as_sum(self._sum())
        if not one.terms and not other.terms:
            raise self._wrong("a column")
        if sign in (">=", ">"):
            one, other = other, one
        relation: Relation = "==" if sign in ("==", "=") else "<=" if "=" in sign else "<"
        return Linear(one, relation, other)

    def _sum(self) -> "Sum | str":
        """A sum; the name alone if it is one column."""
        terms: list[tuple[float, str]] = []
        constant, sign = 0.0, -1.0 if self._taken("sign", "-") else 1.0
        first = sign > 0
        while True:
            kind, token = self._peek()
            if kind == "number":
                self.at += 1
                if self._taken("sign", "*"):
                    terms.append((sign * float(token), self._name()))
                else:
                    constant += sign * float(token)
                first = False
            else:
                name = self._name()
                terms.append((sign, name))
            plus, minus = self._taken("sign", "+"), self._peek() == ("sign", "-")
            if not plus and not minus:
                break
            if minus and not plus:
                self.at += 1
            sign = -1.0 if minus and not plus else 1.0
            first = False
        return terms[0][1] if first and len(terms) == 1 and not constant else Sum(tuple(terms), constant)

    def _condition(self) -> LevelCondition:
        name = self._name()
        if self._taken("word", "is"):
            known = self._taken("word", "known")
            if not known:
                self._expect("word", "missing")
            return LevelCondition(name, (None,), negated=known)
        if self._taken("word", "not"):
            self._expect("word", "in")
            return LevelCondition(name, (*self._levels(), None), negated=True)
        if self._taken("word", "in"):
            return LevelCondition(name, self._levels())
        if self._taken("sign", "!="):
            return LevelCondition(name, (self._level(), None), negated=True)
        if self._taken("sign", "==") or self._taken("sign", "="):
            return LevelCondition(name, (self._level(),))
        raise self._wrong("==, !=, in, is missing or is known")

    def _levels(self) -> tuple[str, ...]:
        self._expect("sign", "(")
        found = [self._level()]
        while self._taken("sign", ","):
            found.append(self._level())
        self._expect("sign", ")")
        return tuple(found)

    def _level(self) -> str:
        kind, token = self._peek()
        if kind not in ("quoted", "name", "word", "number"):
            raise self._wrong("a level in quotes")
        self.at += 1
        return token

    def _several(self) -> tuple[str, ...]:
        names = self._names()
        if len(names) < 2 or len(set(names)) < len(names):
            raise self._wrong("at least two columns, each once,")
        return names

    def _names(self, count: int | None = None) -> tuple[str, ...]:
        found = [self._name()]
        while self._taken("sign", ","):
            found.append(self._name())
        self._expect("sign", ")")
        if count is not None and len(found) != count:
            raise self._wrong("one column")
        return tuple(found)

    def _name(self) -> str:
        kind, token = self._peek()
        if kind not in ("quoted", "name", "word") or (kind == "word" and token in ("if", "then")):
            raise self._wrong("a column")
        self.at += 1
        return token

    def _is_call(self, word: str) -> bool:
        if self._peek() == ("word", word) and self.tokens[self.at + 1 : self.at + 2] == [("sign", "(")]:
            self.at += 2
            return True
        return False

    def _peek(self) -> tuple[str, str]:
        return self.tokens[self.at] if self.at < len(self.tokens) else ("end", "")

    def _taken(self, kind: str, token: str) -> bool:
        taken = self._peek() == (kind, token)
        self.at += taken
        return taken

    def _expect(self, kind: str, token: str) -> None:
        if not self._taken(kind, token):
            raise self._wrong(repr(token))

    def _wrong(self, wanted: str) -> PlanError:
        _, got = self._peek()
        place = f"got {got!r}" if got else "the text ends"
        words = {token for kind, token in self.tokens if kind == "word"}
        if words & {"if", "then", "implies", "when"} or ("sign", "=>") in self.tokens:
            hint = IMPLICATION
        else:
            hint = "Write it like 'total == a + b', 'start <= end', 'city -> state' or 'if a == \"x\" then b is known'."
        return PlanError(f"The rule {self.text!r} cannot be read: {wanted} is expected, but {place}. {hint}")


def _as_sum(side: Sum | str) -> Sum:
    return Sum(((1.0, side),)) if isinstance(side, str) else side


def _tokens(text: str, odd_names: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Kinds and texts of the tokens; a known name with blanks or signs is one token if it is not part of a word."""
    at = 0
    while text[at:].strip():
        begin = at + len(text[at:]) - len(text[at:].lstrip())
        name = next((n for n in odd_names if text.startswith(n, begin) and _ends_there(text, begin, n)), None)
        if name is not None:
            yield "name", name
            at = begin + len(name)
            continue
        found = TOKEN.match(text, at)
        if found is None:
            raise PlanError(f"The rule {text!r} cannot be read at {text[begin : begin + 10]!r}. Quote odd names.")
        kind = str(found.lastgroup)
        token = found[kind]
        yield kind, re.sub(r"\\(.)", r"\1", token[1:-1]) if kind == "quoted" else token
        at = found.end()


def _ends_there(text: str, begin: int, name: str) -> bool:
    end = begin + len(name)
    return not (name[-1].isalnum() and text[end : end + 1].isalnum())
