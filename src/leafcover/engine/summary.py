"""A release in a few lines of words."""

from leafcover.engine.run import Release, TreeFact, least_kept, mean_kept, not_reached
from leafcover.metrics.disclosure.record_linkage import Informed
from leafcover.recipes.plan import Step


def _leaves(count: int) -> str:
    return "1 leaf" if count == 1 else f"{count} leaves"


def _kept(trees: list[TreeFact]) -> list[str]:
    if not trees:
        return []
    first = trees[0]
    if len(trees) == 1:
        return [
            f"{first.kept:.1%} of the rows stand in the same leaf of the tree for {first.target} "
            f"({_leaves(first.leaves)})."
        ]
    return [
        f"{mean_kept(trees):.1%} of the rows stand in the same leaf of a tree for {first.target}, as a mean over "
        f"{len(trees)} trees; in the tree that was kept least, {least_kept(trees):.1%}."
    ]


def _is_block(step: Step) -> bool:
    return step.perturb.moves_rows and len(step.columns) > 1


def summary(release: Release, informed: Informed | None = None) -> str:
    """What was done, what was kept, what is still to be seen."""
    rows, columns = len(release.table), len(release.table.names)
    changed = sum(fact.changed for fact in release.columns) / max(columns, 1)
    lines = [
        f"{rows:,} rows × {columns} column{'s' * (columns != 1)} released by {release.plan.recipe or 'your plan'}; "
        f"{changed:.0%} of all values are another row's or new."
    ]
    lines += _kept([tree for tree in release.trees if tree.target and tree.target == release.plan.target])
    if any(step.perturb.uses_cells for step in release.plan.steps):
        smallest = min((cell.smallest for cell in release.cells), default=rows)
        hidden = all(step.perturb.moves_rows for step in release.plan.steps) and not release.unprotected
        words = "Every value is hidden among the rows of its cell; the" if hidden else "The"
        lines.append(f"{words} smallest cell has {smallest} {'row' if smallest == 1 else 'rows'}.")
    lines += not_reached(release.plan, release.partitions)
    if release.singletons:
        lines.append(
            f"{release.singletons:.1%} of the rows stand alone in their cell: what their leaf pins down is published."
        )
    blocks = [" + ".join(step.columns) for step in release.plan.steps if _is_block(step)]
    if blocks:
        lines.append(f"Columns that belong together were moved together: {', '.join(blocks)}.")
    refined = dict.fromkeys(n for step in release.plan.steps for n in step.within.refined_by)
    if refined:
        lines.append(f"Cells were refined for {', '.join(refined)}.")
    stuck = [f for f in release.columns if f.fixed >= 0.5 and f.name not in release.unprotected]
    if fixed := sorted(stuck, key=lambda f: -f.fixed):
        named = ", ".join(f"{fact.name} ({fact.fixed:.0%})" for fact in fixed[:5])
        more = f" and {len(fixed) - 5} more" if len(fixed) > 5 else ""
        lines.append(f"Could not change in at least half of the rows: {named}{more}.")
    if release.unprotected:
        lines.append(f"Not protected, released as they are: {', '.join(release.unprotected)}.")
    if informed is not None:
        lines.append(
            "Informed linkage: whoever knows a person's key columns, and everything of the method but the key, points "
            f"at their row in {informed.first} of cases, "
            f"for the worst 1% in {informed.first.worst:.2f}."
        )
    if not release.publishable:
        lines.append("Made with a seed: not for publication.")
    if release.kept_order:
        lines.append("Rows are in their original order: not for publication.")
    return "\n".join(lines)
