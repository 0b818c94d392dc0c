"""Numbers with noise of a known law added at their source: shares of the truths, and trees, from reports alone."""

from leafcover.response.additive.grow import grow_reconstructed
from leafcover.response.additive.laws import Gaussian, Laplace, Law, Uniform
from leafcover.response.additive.noisy import Noisy, add_noise
from leafcover.response.additive.reconstruct import Reconstruction, reconstruct

__all__ = [
    "Gaussian",
    "Laplace",
    "Law",
    "Noisy",
    "Reconstruction",
    "Uniform",
    "add_noise",
    "grow_reconstructed",
    "reconstruct",
]
