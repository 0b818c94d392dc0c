"""Answers that arrive together are written together: one thread, one transaction, one wait for the disk."""

import asyncio
import logging
import queue
import threading
from dataclasses import dataclass

from leafcover.survey.message import Answer
from leafcover.survey.storing.store import Opens, Store, Verdict

MOST_TOGETHER = 256  # answers in one transaction; at 200 a second a few wait at a time

log = logging.getLogger(__name__)


class Unavailable(Exception):
    """The store cannot be written to at this moment; nothing is known to be kept."""


@dataclass(frozen=True)
class _Waiting:
    answer: Answer
    token: int | None
    loop: asyncio.AbstractEventLoop
    verdict: asyncio.Future[Verdict]

    def tell(self, verdict: Verdict | None) -> None:
        self.loop.call_soon_threadsafe(self._tell, verdict)

    def _tell(self, verdict: Verdict | None) -> None:
        if self.verdict.done():  # the device hung up meanwhile
            return
        if verdict is None:
            self.verdict.set_exception(Unavailable())
        else:
            self.verdict.set_result(verdict)


class Writer:
    """The one thread that writes to the store. ``add`` returns when the answer is on disk."""

    def __init__(self, opened: Opens) -> None:
        self._opened = opened
        self._waiting: queue.SimpleQueue[_Waiting | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._work, name="writer", daemon=True)

    def start(self) -> None:
        """Begin to write."""
        self._thread.start()

    def stop(self) -> None:
        """Write what waits, then end."""
        self._waiting.put(None)
        self._thread.join()

    async def add(self, answer: Answer, token: int | None) -> Verdict:
        """Keep an answer."""
        loop = asyncio.get_running_loop()
        one = _Waiting(answer, token, loop, loop.create_future())
        self._waiting.put(one)
        return await one.verdict

    def _work(self) -> None:
        store: Store | None = None
        ended = False
        while not ended:
            batch = self._next()
            ended = None in batch
            waiting = [one for one in batch if one is not None]
            if not waiting:
                continue
            try:
                store = store or self._opened()
                verdicts = store.add([(one.answer, one.token) for one in waiting])
            except Exception as error:  # whatever a database throws, the devices must be told
                # Without its words and its trace, which may hold an address or an answer.
                log.error("answers could not be written: %s", type(error).__name__)  # noqa: TRY400
                for one in waiting:
                    one.tell(None)
            else:
                for one, verdict in zip(waiting, verdicts, strict=True):
                    one.tell(verdict)
        if store is not None:
            store.close()

    def _next(self) -> list[_Waiting | None]:
        """The next answer, and those that wait behind it."""
        batch = [self._waiting.get()]
        while len(batch) < MOST_TOGETHER:
            try:
                batch.append(self._waiting.get_nowait())
            except queue.Empty:
                break
        return batch
