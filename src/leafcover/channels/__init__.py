"""What a true answer may be reported as: the law of each randomised response, its inverse, and what it gives away."""

from leafcover.channels.channel import Channel, matrix
from leafcover.channels.groups import Groups
from leafcover.channels.kary import Kary
from leafcover.channels.onecoin import OneCoin
from leafcover.channels.privacy import Privacy
from leafcover.channels.unrelated import Unrelated
from leafcover.channels.warner import Warner

__all__ = ["Channel", "Groups", "Kary", "OneCoin", "Privacy", "Unrelated", "Warner", "matrix"]
