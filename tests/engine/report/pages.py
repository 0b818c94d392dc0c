"""Releases to report on, their pages, and the outline of a page."""

import re
from dataclasses import replace
from functools import lru_cache
from html import unescape
from html.parser import HTMLParser

import numpy as np

from leafcover.engine.evaluate import compared_to, measure_all, pair_from
from leafcover.engine.run import run
from leafcover.keyed_random import Key
from leafcover.recipes import plan_for
from leafcover.reporting.context import ReportContext
from leafcover.reporting.disclosure_rules import DisclosureRules
from leafcover.reporting.fitness import verdicts
from leafcover.reporting.html_page import report
from tests.small_models import small_models
from tests.tables import category, mixed, number, table

KEY = Key(Key.from_seed(1).secret)  # fixed, and may be published
RARE, EXTREME, MIDDLE = "Zyx-unheard-of", 987654.0, 43.217
RECIPES = [
    "cover",
    "cells",
    "framework",
    "framework-paper",
    "forest",
    "detective",
    "random",
    "additive",
    "multiplicative",
]


def planted(rows=200, seed=5):
    """A table in which one person has a rare category, one an extreme number, one a number nobody else has."""
    rng = np.random.default_rng(seed)
    age = rng.integers(18, 80, rows).astype(float)
    pay = np.round(rng.normal(50, 10, rows), 1)
    job = rng.choice(["clerk", "nurse", "smith"], rows, p=[0.5, 0.3, 0.2]).tolist()
    good = (age > 45) ^ (rng.random(rows) < 0.15)
    job[7], pay[11], age[13], pay[17] = RARE, EXTREME, EXTREME, MIDDLE
    return table(
        number("age", age),
        number("pay", pay, decimals=3),
        category("job", job),
        category("good", ["yes" if g else "no" for g in good]),
    )


def released(original, recipe="cover", *, target="good", key=None, keep_order=False, rare="allow"):
    plan = plan_for(original, recipe, target=target, rare=rare)
    return run(original, plan, key=key or KEY, keep_order=keep_order)


def measured(original, release, control=None):
    """Everything that can be measured of a release, with small models; fixtures of every file use it."""
    with small_models():
        return measure_all(compared_to(original, release, control))


@lru_cache
def mixed_case(recipe):
    """A release of a table of every kind, and everything that can be measured of it."""
    original = mixed(1, rows=300)
    release = released(original, recipe, target="class")
    return original, release, measured(original, release, mixed(2, rows=120))


def page(original, release, audience="internal", *, publish_tree=False, measures=None, **more):
    pair = pair_from(original, release)
    return report(pair, release=release, measures=measures, audience=audience, publish_tree=publish_tree, **more)


def context_of(case, *, strict=False, pair=None, **changed):
    """What a page is about, with some of its measures replaced."""
    original, release, measures = case
    pair = pair or pair_from(original, release)
    return ReportContext(
        pair, release, replace(measures, **changed), DisclosureRules(len(original), strict), not strict
    )


def verdict(context, use):
    """The verdict on a use."""
    return next(one for one in verdicts(context) if one.use == use)


def text_of(html):
    """What a reader sees, one line for each piece."""
    html = re.sub(r"<style>.*?</style>|<svg.*?</svg>|<pre.*?</pre>", "", html, flags=re.S)
    return unescape(re.sub(r"\s*<(?!wbr)[^>]+>\s*", "\n", html).replace("<wbr>", ""))


class Outline(HTMLParser):
    """Every tag opened, in order, and whether they close in order."""

    VOID = frozenset({"meta", "wbr", "br", "img", "link", "input", "hr"})

    def __init__(self):
        super().__init__()
        self.tags, self.attributes, self.stack = [], [], []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [(tag, *one) for one in attrs]
        if tag not in self.VOID:
            self.stack.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [(tag, *one) for one in attrs]

    def handle_endtag(self, tag):
        assert self.stack.pop() == tag


def outline(html):
    seen = Outline()
    seen.feed(html)
    assert not seen.stack
    return seen
