"""The page of a survey as a document: always the same bytes, and a policy that fits them."""

import base64
import hashlib
import json
import re

import pytest

from leafcover.errors import LeafcoverError
from leafcover.messages import catalogue
from leafcover.survey.client import as_json, coins_of
from leafcover.survey.design import design
from leafcover.survey.pages import environment, offline_page, owner_page, page_of
from leafcover.survey.questionnaire import survey_from
from tests.survey.surveys import HABITS, every_coin, habits, one_coin

say = catalogue("survey")


def directives(policy: str) -> dict[str, str]:
    return dict(rule.split(" ", 1) for rule in policy.split("; "))


def test_the_same_survey_gives_the_same_bytes() -> None:
    assert page_of(habits()) == page_of(habits())
    address = "https://survey.example.org/answers"
    assert offline_page(habits(), address) == offline_page(habits(), address)
    content, digest = offline_page(habits(), address)
    assert digest == hashlib.sha256(content).hexdigest()


@pytest.mark.parametrize("offline", [True, False])
def test_the_policy_allows_this_script_and_this_style_alone(offline: bool) -> None:
    page = page_of(every_coin(), send_to="https://survey.example.org:8443/answers", offline=offline)
    rules = directives(page.policy)
    for directive, tag in (("script-src", "script"), ("style-src", "style")):
        (inside,) = re.findall(rf"<{tag}>(.*?)</{tag}>", page.html, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(inside.encode()).digest()).decode()
        assert rules[directive] == f"'sha256-{digest}'"
    assert rules["default-src"] == rules["form-action"] == rules["base-uri"] == "'none'"
    assert rules["connect-src"] == ("https://survey.example.org:8443" if offline else "'self'")
    assert ("frame-ancestors" in rules) is not offline
    assert ("Content-Security-Policy" in page.html) is offline


def test_nothing_in_the_document_loads_anything() -> None:
    html = page_of(every_coin()).html
    assert re.findall(r"""\b(?:src|srcset|action|ping|style|on[a-z]+)\s*=""", html.partition("<script")[0]) == []
    assert re.findall(r'href="([^"]*)"', html) == ["data:,"]
    assert "url(" not in html
    assert "@import" not in html


def test_the_script_uses_no_way_to_keep_or_run_text() -> None:
    script = page_of(habits()).html.rpartition("<script>")[2]
    for word in ("eval", "Function(", "innerHTML", "outerHTML", "localStorage", "sessionStorage", "cookie", "console"):
        assert word not in script
    assert "Math.random" not in script


def test_the_script_is_told_the_coins_and_no_text() -> None:
    survey = every_coin()
    (block,) = re.findall(r'<script type="application/json" id="survey">(.*?)</script>', page_of(survey).html)
    told = json.loads(block)
    assert told["coins"] == json.loads(json.dumps([as_json(coin) for coin in coins_of(survey)]))
    assert told["questions"][3] == {"low": 0, "high": 60, "width": 2}
    assert set(told) == {"fingerprint", "send_to", "letters", "questions", "coins"}


def test_an_address_cannot_end_the_block_of_data() -> None:
    html = page_of(habits(), send_to="/</script><script>alert(1)</script>").html
    assert html.count("</script>") == 2


@pytest.mark.parametrize(
    "address",
    [
        "/answers",
        "answers",
        "ftp://a.org/answers",
        "https://",
        "https://a.org:65536/answers",
        "https://a.org:0",
        "https://[::1/answers",
        "https://[1:2]/answers",
        "https://a.org;script-src 'unsafe-inline'/answers",
        "https://user:secret@a.org/answers",
        "https://a.org/answers?x=1",
        "https://a.org/answers#x",
        "javascript:alert(1)//",
        "https://a.org /answers",
    ],
)
def test_a_file_needs_a_whole_address(address: str) -> None:
    with pytest.raises(LeafcoverError, match=r"^address must be .* Got .*https://survey\.example\.org\.$"):
        offline_page(habits(), address)


@pytest.mark.parametrize("path", ["", "/", "/answers", "/answers/", "/answers/answers"])
def test_a_collectors_address_is_taken_with_and_without_its_last_part(path: str) -> None:
    for collector in ("https://a.org:65535", "https://a.org/surveys/one"):
        content, _ = offline_page(habits(), collector + path)
        assert f'"send_to":"{collector}/answers"'.encode() in content


def test_the_address_of_a_loopback_collector_and_of_an_old_network_are_taken() -> None:
    content, _ = offline_page(habits(), "http://[::1]:8000/answers")
    assert b"connect-src http://[::1]:8000;" in content
    assert b"not encrypted" in content
    assert b"not encrypted" not in offline_page(habits(), "https://a.org/answers")[0]


def test_a_survey_without_randomised_answers_claims_no_protection() -> None:
    text = 'title = "T"\n[[questions]]\nname = "a"\ntext = "A?"\nmechanism = "open"\nbetween = [1, 9]\n'
    html = page_of(survey_from(text)).html
    body = html.partition("<body>")[2].partition("<script")[0]
    assert say("overview-unchanged") in body
    assert 'class="steps"' not in body
    assert 'class="safe"' not in body
    for unprotected in (say("overview-unchanged"), say("question-unchanged", answer="number")):
        body = body.replace(unprotected, "")
    assert "randomis" not in body
    assert "coin" not in body


def test_open_answers_beside_disguised_ones_are_not_said_to_prove_nothing() -> None:
    assert "proves nothing" not in page_of(habits()).html
    assert "some answers unchanged" in page_of(habits()).html
    assert "proves nothing" in page_of(one_coin()).html


def test_words_of_the_surveys_author_run_in_their_own_direction() -> None:
    text = HABITS.replace("theta = 0.75", 'help = "Pens count, too."')
    html = page_of(survey_from(text)).html.partition("<body>")[2]
    own = ("Habits at work", "The works council", "Five questions about habits at work.", "Pens count, too.")
    for words in (*own, "Were you ever paid in cash?", "I would rather not say"):
        (attributes,) = re.findall(rf"<\w+ ([^<>]*)>{re.escape(words)}<", html)
        assert 'dir="auto"' in attributes
    assert '<th scope="row" dir="auto">&lt;no&gt;<' in environment().from_string(SHARES).render()


SHARES = """{% import "owner_parts.jinja" as parts %}
{{ parts.tiles([("412", "answers", "<of 500>")]) }}{{ parts.shares("Smokes?", [("<no>", 0.25, -0.05, 1.2)]) }}"""


def test_pieces_of_the_owners_pages_are_escaped_and_stay_within_all_and_nothing() -> None:
    html = environment().from_string(SHARES).render()
    assert "&lt;no&gt;" in html
    assert "&lt;of 500&gt;" in html
    assert 'aria-label="25.0%, interval 0.0% to 100.0%"' in html
    assert 'd="M0.00 2V14M0.00 8H100.00M100.00 2V14"' in html
    assert 'width="25.00"' in html


def test_the_owners_design_rounds_up_what_stands_behind_at_most() -> None:
    html = owner_page(
        "owner_design.html.jinja", survey=habits(), page="design", found=design(habits(), share=0.004)
    ).html
    assert "A probability of 0.4% becomes at most" in html
    rows = [re.findall(r'class="figures"[^>]*>([^<]*)<', row) for row in html.split("<tr>")[2:7]]
    assert rows[1] == ["1.50", "4.5 times", "1.8%"]  # e^1.5 is 4.4817, and 0.4 % become 1.768 %
    assert rows[3] == ["none", "no limit", "100%"]
    assert "together: epsilon 3.86." in html  # 3.8514


def test_no_script_can_run_on_the_owners_pages() -> None:
    page = owner_page("owner.html.jinja")
    assert page.html.startswith("<!doctype html>")
    rules = directives(page.policy)
    assert "script-src" not in rules
    assert rules["default-src"] == "'none'"
    assert rules["frame-ancestors"] == "'none'"
    assert "<script" not in page.html
