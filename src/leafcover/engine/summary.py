"""The text summary of a release; its sentences are in the catalogue ``release``."""

from leafcover.engine.run import Release, TreeFact, least_kept, mean_kept, not_reached
from leafcover.messages import Catalogue, catalogue
from leafcover.metrics.disclosure.record_linkage import Informed
from leafcover.recipes.plan import Step

LISTED = 5  # maximum number of columns named, the most affected first


def _kept(say: Catalogue, trees: list[TreeFact]) -> list[str]:
    """The share of rows that are still in their leaf."""
    if not trees:
        return []
    target = trees[0].target
    if len(trees) == 1:
        return [say("leaf-kept", share=f"{trees[0].kept:.1%}", target=target, leaves=trees[0].leaves)]
    mean, least = f"{mean_kept(trees):.1%}", f"{least_kept(trees):.1%}"
    return [say("leaf-kept-forest", mean=mean, least=least, target=target, trees=len(trees))]


def _is_block(step: Step) -> bool:
    return step.perturb.moves_rows and len(step.columns) > 1


def summary(release: Release, informed: Informed | None = None) -> str:
    """What was released, what was preserved, and what is not protected."""
    say = catalogue("release")
    rows, columns = len(release.table), len(release.table.names)
    changed = sum(fact.changed for fact in release.columns) / max(columns, 1)
    lines = [
        say("released", rows=rows, columns=columns, recipe=release.plan.recipe or "none", changed=f"{changed:.0%}")
    ]
    lines += _kept(say, [tree for tree in release.trees if tree.target and tree.target == release.plan.target])
    if any(step.perturb.uses_cells for step in release.plan.steps):
        smallest = min((cell.smallest for cell in release.cells), default=rows)
        shuffled = all(step.perturb.moves_rows for step in release.plan.steps) and not release.unprotected
        lines.append(say("smallest-cell-shuffled", rows=smallest) if shuffled else say("smallest-cell", rows=smallest))
    lines += not_reached(release.plan, release.partitions)
    if release.singletons:
        lines.append(say("singletons", share=f"{release.singletons:.1%}"))
    blocks = [" + ".join(step.columns) for step in release.plan.steps if _is_block(step)]
    if blocks:
        lines.append(say("blocks", blocks=", ".join(blocks)))
    refined = dict.fromkeys(n for step in release.plan.steps for n in step.within.refined_by)
    if refined:
        lines.append(say("refined", columns=", ".join(refined)))
    half_fixed = [f for f in release.columns if f.fixed >= 0.5 and f.name not in release.unprotected]
    if fixed := sorted(half_fixed, key=lambda f: -f.fixed):
        named = (say("fixed-column", name=fact.name, share=f"{fact.fixed:.0%}") for fact in fixed[:LISTED])
        lines.append(say("fixed", columns=", ".join(named), more=len(fixed[LISTED:])))
    if release.unprotected:
        lines.append(say("unprotected", columns=", ".join(release.unprotected)))
    if informed is not None:
        lines.append(say("record-linkage", risk=str(informed.first), worst=f"{informed.first.worst:.2f}"))
    if not release.publishable:
        lines.append(say("seeded"))
    if release.kept_order:
        lines.append(say("original-order"))
    return "\n".join(lines)
