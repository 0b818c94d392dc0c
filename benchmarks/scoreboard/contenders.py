"""All methods compared: our recipes, other packages, textbook methods, and baselines."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

from benchmarks.scoreboard import works

from leafcover.perturb.additive import Additive
from leafcover.perturb.pram import Pram
from leafcover.perturb.swap import RankSwap

Family: TypeAlias = Literal["ours", "installed", "textbook", "yardstick"]


@dataclass(frozen=True)
class Contender:
    """One row of the scoreboard."""

    name: str
    family: Family
    about: str  # for the page
    work: works.Work


CONTENDERS: tuple[Contender, ...] = (
    Contender(
        "cover",
        "ours",
        "The default recipe: every column is dealt in the leaves of a tree of the columns before it.",
        works.ours("cover"),
    ),
    Contender("cover, price 0.3", "ours", "The same with a lower price of a split.", works.ours("cover", price=0.3)),
    Contender("cover, price 1.5", "ours", "The same with a higher price of a split.", works.ours("cover", price=1.5)),
    Contender(
        "cells, k = 20",
        "ours",
        "The predecessor of the default: blocks of columns permuted within cells of at least 20 rows.",
        works.ours("cells", k=20),
    ),
    Contender("cells, k = 50", "ours", "The same with cells of at least 50 rows.", works.ours("cells", k=50)),
    Contender(
        "framework",
        "ours",
        "Numbers perturbed within the leaves of the target's tree, categories redrawn among similar ones, "
        "the class permuted within its leaf; our defaults.",
        works.ours("framework"),
    ),
    Contender("framework-paper", "ours", "The same as printed by its authors.", works.ours("framework-paper")),
    Contender(
        "forest", "ours", "The same within cells where the leaves of several trees intersect.", works.ours("forest")
    ),
    Contender(
        "detective",
        "ours",
        "Categories redrawn among those their own trees find similar; numbers are unchanged.",
        works.ours("detective"),
    ),
    Contender("random", "ours", "Every value perturbed a little, without regard to patterns.", works.ours("random")),
    Contender(
        "microaggregate",
        "ours",
        "Numbers replaced by means of groups of 3 similar rows (MDAV); categories are unchanged.",
        works.ours("microaggregate"),
    ),
    Contender(
        "additive",
        "ours",
        "Normal noise of half a standard deviation on the numbers; categories are unchanged.",
        works.ours("additive"),
    ),
    Contender(
        "correlated",
        "ours",
        "Normal noise of half a standard deviation with the covariance of the numbers; categories are unchanged.",
        works.ours("correlated"),
    ),
    Contender(
        "bias-corrected",
        "ours",
        "The same, shrunk so that variances stay; categories are unchanged.",
        works.ours("bias-corrected"),
    ),
    Contender(
        "translate",
        "ours",
        "A secret constant added to each number: not private, reversible; categories are unchanged.",
        works.ours("translate"),
    ),
    Contender(
        "scale",
        "ours",
        "Each number multiplied by a secret constant: not private, reversible; categories are unchanged.",
        works.ours("scale"),
    ),
    Contender(
        "rotate",
        "ours",
        "Pairs of numbers rotated by secret angles: not private, reversible; categories are unchanged.",
        works.ours("rotate"),
    ),
    Contender(
        "hybrid",
        "ours",
        "Numbers translated, scaled or rotated: not private, reversible; categories are unchanged.",
        works.ours("hybrid"),
    ),
    Contender(
        "framework-gadp",
        "ours",
        "The extended Framework: numbers of a leaf drawn together from a normal distribution, inside the leaf.",
        works.ours("framework-gadp"),
    ),
    Contender(
        "gadp",
        "ours",
        "Numbers drawn from a normal distribution given the categories, which are unchanged.",
        works.ours("gadp"),
    ),
    Contender(
        "cgadp", "ours", "The same by a normal copula, which keeps the distribution of numbers.", works.ours("cgadp")
    ),
    Contender(
        "shuffle",
        "ours",
        "Data shuffling: numbers exchanged so that ranks keep their correlations with the categories.",
        works.ours("shuffle"),
    ),
    Contender("egadp", "ours", "The same with exact means and covariances.", works.ours("egadp")),
    Contender(
        "pram, 0.2",
        "ours",
        "PRAM: categories redrawn from their column with probability 0.2; numbers are unchanged.",
        works.ours("pram"),
    ),
    Contender(
        "rank-swap",
        "ours",
        "Numbers swapped with others at most 10% of the ranks away; categories are unchanged.",
        works.ours("rank-swap"),
    ),
    Contender(
        "bounded-swap",
        "ours",
        "Numbers swapped at least 5 ranks away in cells of 10 to 19 similar rows; categories are unchanged.",
        works.ours("bounded-swap"),
    ),
    Contender(
        "round, 1 digit",
        "ours",
        "Numbers rounded to one significant digit; categories are unchanged.",
        works.ours("round", digits=1),
    ),
    Contender(
        "top-code, 5 %",
        "ours",
        "The largest and smallest 5 % of each number become their mean; categories are unchanged.",
        works.ours("top-code", share=0.05),
    ),
    Contender(
        "intervals, 5",
        "ours",
        "Numbers become one of five intervals; categories are unchanged.",
        works.ours("intervals", count=5),
    ),
    Contender(
        "generalise, k = 20",
        "ours",
        "Full-domain generalisation: all columns but the target become coarser until 20 rows are equal in them, "
        "but for 5 % of the rows, in which cells are suppressed.",
        works.ours("generalise", k=20),
    ),
    Contender(
        "suppress, k = 5",
        "ours",
        "Local suppression: 5 people agree in age, education, sex, race and native country; other columns are "
        "unchanged.",
        works.ours("suppress", k=5, columns="age,education,sex,race,native_country"),
    ),
    Contender(
        "pram",
        "installed",
        "PyPI `pram`, its defaults (least diagonal 0.8, alpha 0.5), on the nine categories; it "
        "would treat numbers as tokens, so they are unchanged.",
        works.rival("pram"),
    ),
    Contender(
        "pram, strong", "installed", "The same with a least diagonal of 0.5 and alpha 1.", works.rival("pram-strong")
    ),
    Contender(
        "anonypyx Mondrian, drawn",
        "installed",
        "PyPI `anonypyx`, Mondrian, k = 20 over all columns but the "
        "target. A released interval is used by its middle, a released set of levels by one level drawn for "
        "each row.",
        works.rival("anonypyx-mondrian"),
    ),
    Contender(
        "anonypyx Mondrian, centre",
        "installed",
        "The same groups, each used by its mean and its most frequent "
        "level (better than what is published, which contains neither).",
        works.rival("anonypyx-mondrian-mean"),
    ),
    Contender(
        "anonypyx MDAV",
        "installed",
        "PyPI `anonypyx`, MDAV-generic, k = 20 over all columns but the target; mean "
        "and most frequent level of each group.",
        works.rival("anonypyx-mdav"),
    ),
    Contender(
        "diffprivlib tree, ε = 1",
        "installed",
        "PyPI `diffprivlib`: one private tree for each target, each with "
        "the whole ε, of depth 10; ranges and levels are given as public. No table is released, so these "
        "attacks do not apply, and nothing else can be analysed.",
        works.rival("diffprivlib-tree-1", model=True),
    ),
    Contender(
        "diffprivlib tree, ε = 10", "installed", "The same with ε = 10.", works.rival("diffprivlib-tree-10", model=True)
    ),
    Contender(
        "diffprivlib forest, ε = 1",
        "installed",
        "The same with the package's forest of ten trees.",
        works.rival("diffprivlib-forest-1", model=True),
    ),
    Contender(
        "diffprivlib forest, ε = 10",
        "installed",
        "The forest with ε = 10.",
        works.rival("diffprivlib-forest-10", model=True),
    ),
    Contender(
        "ARF",
        "installed",
        "PyPI `arfpy`, adversarial random forests: a synthetic table. Limited to 10 trees, at least 50 rows per leaf "
        "and two rounds, to keep the run short (defaults: 30, 5 and 10); numbers are rounded and kept in range.",
        works.rival("arf", paired=False),
    ),
    Contender(
        "sequential CART (as synthpop)",
        "textbook",
        "A synthetic table: each column drawn with replacement from the leaves of a tree of the columns before it, at "
        "least 5 rows per leaf, as the R package synthpop does by default (our own code).",
        works.synthesised,
    ),
    Contender(
        "MDAV of numbers",
        "textbook",
        "Microaggregation of the six numbers in groups of 20 (our own code); categories are unchanged.",
        works.microaggregated,
    ),
    Contender(
        "noise and PRAM, plan",
        "textbook",
        "`additive` (half a standard deviation) on the numbers and `pram` (probability 0.2) on the categories.",
        works.classical(Additive(0.5), Pram(0.2)),
    ),
    Contender(
        "noise and PRAM, plan, strong",
        "textbook",
        "The same with a whole standard deviation and probability 0.5.",
        works.classical(Additive(1.0), Pram(0.5)),
    ),
    Contender(
        "rank swap and PRAM, plan",
        "textbook",
        "`rank-swap` (10% of the ranks) on the numbers and `pram` (probability 0.2) on the categories.",
        works.classical(RankSwap(0.1), Pram(0.2)),
    ),
    Contender(
        "rank swap and PRAM, plan, strong",
        "textbook",
        "The same with 30% of the ranks and probability 0.6.",
        works.classical(RankSwap(0.3), Pram(0.6)),
    ),
    Contender(
        "the original",
        "yardstick",
        "The rows themselves: the best utility and the worst risk.",
        works.by_column(works.as_it_is, works.as_it_is),
    ),
    Contender(
        "a fresh sample",
        "yardstick",
        "A bootstrap sample of the original, the floor: two samples of one "
        "population agree no better, so a method that reaches it has lost nothing. It is not attacked.",
        works.resampled,
    ),
    Contender(
        "columns apart",
        "yardstick",
        "Every column permuted independently: no linkage, and no relation is kept.",
        works.by_column(works.permuted, works.permuted),
    ),
)
