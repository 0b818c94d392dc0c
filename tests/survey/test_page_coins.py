"""The coins that a browser tosses are those of ``device.py``: word for word, and in the long run."""

import json
from collections.abc import Callable, Iterable
from itertools import product

import pytest
from scipy.stats import chi2, chisquare

from leafcover.randomized_response.mechanism import ALL_WORDS
from leafcover.survey import client as message
from leafcover.survey.client import Among, Flip, Harmless, coins_of, disguised, length, token
from tests.survey.surveys import every_coin, habits

SURVEY = every_coin()
FLIP, AMONG, HARMLESS, SHARED = coins_of(SURVEY)
# To each of two truths. A coin that falls evenly where three of four should be kept is 0.25 off, 5.8 standard errors of
# sqrt(0.75 * 0.25 / 102) for each truth: a chi-square near 68 with two degrees of freedom, where 18.4 is refused. Where
# exactly a coin falls is the matter of the tests with given words.
ANSWERS = 102
TRUTHS = ((1, 2, 1, 33, 2, 0, 1, 1), (0, 0, 0, 60, 0, 1, 1, 0))

# Again and again: begin with the document as it was served, fill its form as the true codes say, send it, and wait
# until it has arrived. Writing the document anew runs its script anew, and takes a third of the time of loading it.
ANSWER = """async ([html, truths, times]) => {
  for (let time = 0; time < times; time++) for (const codes of truths) {
    document.open();
    document.write(html);
    document.close();
    codes.forEach((code, place) => {
      const field = document.querySelectorAll(`[name=answer-${place}]`);
      if (field.length > 1) field[code].checked = true; else field[0].value = code;
    });
    const sent = document.querySelector('[data-screen=sent]');
    const arrived = new Promise(done =>
      new MutationObserver(() => sent.hidden || done()).observe(sent, {attributes: true}));
    document.querySelector('#questions button').click();
    await arrived;
  }
}"""


def test_reports_on_the_wire_follow_the_laws_and_nothing_else_tells_the_truth(visit) -> None:
    visited = visit(SURVEY, width=360)
    visited.page.evaluate(ANSWER, [visited.recorder.page.html, TRUTHS, ANSWERS])
    assert visited.complaints == []
    sent = visited.recorder.answers
    assert len(sent) == 2 * ANSWERS > 200
    assert len(visited.recorder.requests) == 1 + len(sent)

    # Truths take turns, so whatever is alike in all messages cannot tell them apart.
    assert {request.path for request in sent} == {"/answers"}
    assert len({json.dumps(request.headers) for request in sent}) == 1
    assert {len(request.body) for request in sent} == {length(SURVEY)}
    assert {tuple(request.content) for request in sent} == {("survey", "id", "token", "reports")}
    assert {(request.content["survey"], request.content["token"]) for request in sent} == {(SURVEY.fingerprint, "")}
    assert len({request.content["id"] for request in sent}) == 2 * ANSWERS
    assert not any("Referer" in request.headers or "Cookie" in request.headers for request in sent)

    reports = [tuple(map(int, request.content["reports"])) for request in sent]
    assert [report[3:5] for report in reports] == [truth[3:5] for truth in TRUTHS] * ANSWERS
    found = [fit(coin, reports) for coin in coins_of(SURVEY)]
    for statistic, freedom in found:
        assert chi2.sf(statistic, freedom) > 1e-4
    # Too well is judged over all coins: one of two sides meets its chances exactly once in twenty times.
    statistic, freedom = map(sum, zip(*found, strict=True))
    assert freedom == 12
    assert chi2.sf(statistic, freedom) < 1 - 1e-4


def fit(coin: Flip | Among | Harmless, reports: list[tuple[int, ...]]) -> tuple[float, int]:
    """How far the reports of a coin are from its chances, for truths that take turns, and its degrees of freedom."""
    statistic, freedom = 0.0, 0
    for start, truth in enumerate(TRUTHS):
        chances = chances_of(coin, truth)
        seen = [tuple(report[place] for place in coin.places) for report in reports[start :: len(TRUTHS)]]
        assert set(seen) <= set(chances)
        statistic += chisquare(
            [seen.count(one) for one in chances], [len(seen) * chances[one] for one in chances]
        ).statistic
        freedom += len(chances) - 1
    return statistic, freedom


def chances_of(coin: Flip | Among | Harmless, truth: tuple[int, ...]) -> dict[tuple[int, ...], float]:
    """The chance of every report, from the words of the questions alone."""
    true = tuple(truth[place] for place in coin.places)
    if isinstance(coin, Flip):
        theta = 0.75 if len(true) == 1 else 0.8
        return {true: theta, tuple(1 - one for one in true): 1 - theta}
    if isinstance(coin, Among):
        keep = 2.718281828459045**1.5 / (2.718281828459045**1.5 + 3)
        return {(level,): keep if (level,) == true else (1 - keep) / 3 for level in range(4)}
    return {(yes,): 0.5 * ((yes,) == true) + 0.5 * (0.4 if yes else 0.6) for yes in (0, 1)}


STUB = """(() => {
  const words = %s.map(BigInt);
  crypto.getRandomValues = array => {
    if (array instanceof BigUint64Array) for (const place of array.keys()) array[place] = words.shift();
    else array.fill(0xab);
    return array;
  };
})()"""

LAST = ALL_WORDS - 1  # the one word that is drawn again, since three does not divide all of them


WORDS = (
    (FLIP.keep - 1, AMONG.keep - 1, 0, HARMLESS.asked - 1, 0, SHARED.keep - 1),
    (FLIP.keep, AMONG.keep, 0, HARMLESS.asked, HARMLESS.yes - 1, SHARED.keep),
    (FLIP.keep, AMONG.keep, LAST - 1, HARMLESS.asked, HARMLESS.yes, SHARED.keep),
    (FLIP.keep, AMONG.keep, LAST, LAST, 1, HARMLESS.asked, HARMLESS.yes, SHARED.keep - 1),
    (0, 0, LAST, 5, 0, 0, 0),
    (LAST, LAST, 3, LAST, LAST, LAST),
)


def test_the_same_words_give_the_same_bytes_as_python(visit, monkeypatch: pytest.MonkeyPatch) -> None:
    visited = visit(SURVEY)
    monkeypatch.setattr(message.secrets, "token_hex", lambda size: "ab" * size)
    for words, truth in product(WORDS, TRUTHS):
        visited.page.evaluate(STUB % json.dumps(list(map(str, words))))
        visited.page.evaluate(ANSWER, [visited.recorder.page.html, [truth], 1])
        expected = message.body(SURVEY, disguised(SURVEY, truth, drawn(words)))
        assert visited.recorder.answers[-1].body == expected, (words, truth)
    assert len(visited.recorder.answers) == len(WORDS) * len(TRUTHS)


def drawn(words: Iterable[int]) -> Callable[[int], int]:
    """Draws below a bound from given words; one beyond the last whole round of the bound is passed over."""
    left = iter(words)

    def below(bound: int) -> int:
        word = next(left)
        while word >= ALL_WORDS - ALL_WORDS % bound:
            word = next(left)
        return word % bound

    return below


def test_a_message_with_a_token_is_that_of_python(visit, monkeypatch: pytest.MonkeyPatch) -> None:
    survey, truth, words = habits(tokens=True), (0, 3, 0, 4, 1), (LAST, LAST, 2, 0, 0)
    mine = token(bytes(32), survey.fingerprint, 9)
    visited = visit(survey, fragment=f"#token={mine}")
    visited.page.evaluate(STUB % json.dumps(list(map(str, words))))
    visited.answer(*truth)
    visited.send()
    visited.sees("Sent")
    monkeypatch.setattr(message.secrets, "token_hex", lambda size: "ab" * size)
    assert visited.recorder.answers[0].body == message.body(survey, disguised(survey, truth, drawn(words)), mine)
