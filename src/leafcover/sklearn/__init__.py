"""C4.5, SysFor and trees from disguised answers for scikit-learn: arrays and frames in, leafcover's trees inside.

A number is cut; text, categories and truth values get a branch for every level, named by its text. A missing
value, or a level never met in training, goes down every branch by its share (Quinlan 1993).
"""

from leafcover.sklearn.trees import C45Classifier, RandomizedResponseTreeClassifier, SysForClassifier

__all__ = ["C45Classifier", "RandomizedResponseTreeClassifier", "SysForClassifier"]
