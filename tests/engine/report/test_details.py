"""The detail sections: their catalogue holds what they use and nothing else; their prose is as in the golden file."""

import ast
import re
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import leafcover as lc
from leafcover.engine.evaluate import compared_to, pair_from
from leafcover.messages import ENGLISH, catalogue
from leafcover.reporting import columns, informed, risks, trees
from leafcover.reporting.context import ReportContext
from leafcover.reporting.disclosure_rules import DisclosureRules
from leafcover.table.frames import from_frame
from leafcover.table.table import Column
from tests.engine.report.pages import mixed_case, released
from tests.tables import mixed

GOLDEN = Path(__file__).parents[2] / "golden" / "report_details.txt"
FILES = (informed, risks, trees, columns)
SECTIONS = (
    trees.trees_section,
    trees.models_section,
    columns.columns_section,
    columns.relations_section,
    informed.informed_section,
    risks.risks_section,
)
FIGURE = re.compile(r"(?:under |over |about |less than )?[+−]?(?<![A-Za-z.\d])\d[\d,.]*(?<![,.])%?")


def ids_used():
    """Every message that the files ask for by name."""
    calls = (node for file in FILES for node in ast.walk(ast.parse(Path(file.__file__).read_text("utf-8"))))
    asked = [one for one in calls if isinstance(one, ast.Call) and getattr(one.func, "id", "") == "say"]
    assert all(isinstance(one.args[0], ast.Constant) for one in asked)  # else this list would not be whole
    return {one.args[0].value for one in asked}


def test_every_message_of_the_catalogue_exists_and_is_used():
    resource = Path(risks.__file__).parents[1] / "locales" / ENGLISH / "report_details.ftl"
    written = re.findall(r"^([a-z][a-z0-9-]*) =", resource.read_text("utf-8"), re.M)
    assert len(written) == len(set(written))
    assert set(written) == ids_used()
    bundle = catalogue("report_details").bundles[0]
    assert all(bundle.has_message(name) for name in written)  # a message that does not parse is left out silently


def test_every_attack_stands_with_control_baseline_and_difference(mixed_release):
    original, release, measures = mixed_release
    subject = ReportContext(pair_from(original, release), release, measures, DisclosureRules(300, False), True)
    say = catalogue("report_details")
    heads = [say(f"attacks-head-{name}") for name in ("members", "control", "baseline", "difference")]
    found = [part for part in flat(risks.risks_section(subject).parts) if heads[0] in getattr(part, "head", ())]
    assert len(found) >= 3  # all attacks; inference by nearest row and by a model
    for table in found:
        assert list(table.head[1:]) == heads
        for row in table.rows:
            main, control, baseline, difference = row[1:]
            assert all(" to " in cell.note for cell in (main, control, baseline))
            assert difference.note.count(" to ") == 1
            assert difference.text.lstrip("+−").replace(".", "").isdigit()


def flat(parts):
    """Every part, those inside others too."""
    for part in parts:
        yield part
        yield from flat(getattr(part, "parts", ()))


# The golden file: the words of these sections. A measured figure is a #, so that its last digit on another machine
# changes nothing; rows of a table are in the order of their words, for the same reason. Words that come from other
# parts of the report are left out.


def prose(section):
    yield f"== {section.title} =="
    for part in flat(section.parts):
        match part.kind:
            case "heading":
                yield f"-- {part.text}"
            case "words":
                yield part.text
            case "fold":
                yield f"[+] {part.summary}"
            case "listing":
                yield f"| {part.name}: {' | '.join(part.head)}"
                yield from sorted({f"|   {row_words(row)}" for row in part.rows})
                if part.note:
                    yield f"| ({part.note})"
            case "bullets":
                yield from sorted(f"+ {one}" for one in part.items)
            case "pictures":
                yield from (f"<{one.title}>" for one in part.items if one.title)
            case "cards":
                yield from sorted(f"* {one.name} [{one.tag}] {facts_words(one.facts)}" for one in part.items)


def row_words(row):
    if any(re.match(r"if |always |\d+\. ", cell.text) for cell in row):
        return "(a rule or a tree)"
    fields = [(without_figures(cell.text), without_figures(cell.note)) for cell in row]
    return " | ".join(f"{text} ({note})" if note else text for text, note in fields)


def facts_words(facts):
    return "; ".join(f"{name} {without_figures(figure)}" for name, figure in facts)


def without_figures(text):
    """A field that is nothing but figures, without them; a field of words as it is."""
    found = masked(text)
    return found if re.fullmatch(r"(?:#|→|to|worst|points|[;,:. ])+", found) else text


def masked(text):
    return FIGURE.sub("#", text.replace("–", "#"))


def golden_text():
    """The sections of small releases: dealt, by cells, made elsewhere, and by a forest without any measures."""
    say, lines = catalogue("report_details"), []
    original, dealt, measures_of_chain = mixed_case("cover")
    _, release, measures = mixed_case("cells")
    forest = released(original, "forest", target="class")
    chain, compared = (compared_to(original, one, mixed(2, rows=120)) for one in (dealt, release))

    def say_without_figures(message, **values):
        return say(message, **{name: masked(one) if isinstance(one, str) else one for name, one in values.items()})

    with pytest.MonkeyPatch.context() as patch:
        for file in FILES:
            patch.setattr(file, "say", say_without_figures)
        for file in (risks, trees):
            patch.setattr(file, "span_words", lambda _: "(scale)")
        for name in ("stuck", "unmoved", "averages"):
            patch.setattr(risks, name, lambda _: ())
        patch.setattr(columns, "_common_cells", lambda _: "(cells)")
        patch.setattr(columns, "dealt_words", lambda *_: "(leaves)")
        for name, pair, made, found, strict in (
            ("internal, dealt", chain.pair, dealt, measures_of_chain, False),
            ("external, dealt", chain.pair, dealt, measures_of_chain, True),
            ("internal", compared.pair, release, measures, False),
            ("external", compared.pair, release, measures, True),
            ("internal, made elsewhere", compared.pair, None, measures, False),
            ("internal, forest, not measured", pair_from(original, forest), forest, None, False),
            ("external, forest, not measured", pair_from(original, forest), forest, None, True),
        ):
            subject = ReportContext(pair, made, found, DisclosureRules(len(original), strict), not strict)
            lines.append(f"######## {name} ########")
            for section in (make(subject) for make in SECTIONS):
                lines += [] if section is None else prose(section)
    return "\n".join(lines) + "\n"


def rewrite():
    """Write the golden file: ``python -c 'from tests.engine.report.test_details import rewrite; rewrite()'``."""
    GOLDEN.write_text(golden_text(), "utf-8")


def test_the_prose_is_as_in_the_golden_file():
    assert golden_text().splitlines() == GOLDEN.read_text("utf-8").splitlines(), "see rewrite()"


@pytest.mark.parametrize("strict", [True, False])
def test_columns_of_units_and_computed_columns_are_not_called_unchanged(strict):
    rng = np.random.default_rng(3)
    person = np.repeat(np.arange(120), 2)
    start, stay = rng.integers(0, 300, 240), rng.integers(0, 20, 240)
    day = [f"{one}" for one in np.datetime64("2020-01-01") + start]
    frame = pa.table({"person": person, "day": day, "start": start, "stay": stay, "end": start + stay})
    original = from_frame(frame, roles={"person": "unit"})
    release = lc.release(original, "cover", target="stay", settings={"bins": 2}, rules=["end == start + stay"], seed=1)
    subject = ReportContext(pair_from(original, release), release, None, DisclosureRules(240, strict), not strict)
    say, unchanged = catalogue("report_method"), catalogue("report_method")("unchanged")
    (cards,) = [part for part in columns.columns_section(subject).parts if hasattr(part, "items")]
    words = {card.name: card.words for card in cards.items}
    assert unchanged not in words.values()
    assert words["end"] == say("promise", word="recomputed")
    assert "stay [1]" in words["stay"]
    assert "stay [2]" in words["stay"]


def test_dates_are_shown_as_dates():
    day, time, pay = (Column(kind, kind, np.array([18_262.0])) for kind in ("date", "time", "number"))
    assert columns._value(day, 18_262.4) == "2020-01-01"
    assert columns._value(time, 18_262 * 86_400.0 + 3_660) == "2020-01-01 01:01"
    assert columns._value(pay, 19_412.0) == "19.4k"
