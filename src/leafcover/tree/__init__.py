"""Decision trees and forests: growing, pruning, prediction and export."""
