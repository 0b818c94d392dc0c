"""What a classifier tells of the one tree that it grew."""

from sklearn.utils.validation import check_is_fitted

from leafcover.tree.box import depths
from leafcover.tree.tree import Tree


class OneTree:
    """Depth and leaves of ``tree_``."""

    tree_: Tree

    def get_depth(self) -> int:
        """The most tests on a way from the root to a leaf."""
        check_is_fitted(self)
        return int(depths(self.tree_).max())

    def get_n_leaves(self) -> int:
        """How many leaves the tree has, empty ones included."""
        check_is_fitted(self)
        return len(self.tree_.leaves)
