"""A connection that says nothing is closed: whoever opens many and waits would keep everybody else out."""

import asyncio
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

from leafcover.survey.collecting.reading import PATIENCE_SECONDS


class Connection(H11Protocol):
    """One device's connection. The head of a request must arrive in time, as its body must (``reading.body_of``)."""

    def __init__(self, *given: Any, patience: float = PATIENCE_SECONDS, **named: Any) -> None:
        super().__init__(*given, **named)
        self._patience = patience
        self._waiting: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        """Begin to wait for the first request."""
        super().connection_made(transport)
        self._wait()

    def data_received(self, data: bytes) -> None:
        """Take some bytes; when they end inside the head of a request, wait for the rest of it."""
        super().data_received(data)
        if self.cycle is not None and not self.cycle.response_complete:
            self._stop_waiting()
        elif self._waiting is None:
            self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait no longer."""
        self._stop_waiting()
        super().connection_lost(exc)

    def _wait(self) -> None:
        self._waiting = self.loop.call_later(self._patience, self.transport.close)

    def _stop_waiting(self) -> None:
        if self._waiting is not None:
            self._waiting.cancel()
            self._waiting = None
