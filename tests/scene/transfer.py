"""A simulated transfer: a sender, a receiver and one queue of events between them."""

import heapq
import itertools
from collections.abc import Callable

from tests.scene.host import Host
from tests.scene.network import Passage
from tests.scene.plan import Plan
from tests.scene.receiver import Receiver
from tests.scene.sender import Sender


def transfer(sending: Host, receiving: Host, plan: Plan) -> None:
    """Runs until everything is acknowledged (or plan.until_ms) and leaves both hosts at that moment."""
    events: list[tuple[int, int, Callable[[int], None]]] = []
    order = itertools.count()

    def schedule(time: int, act: Callable[[int], None]) -> None:
        heapq.heappush(events, (time, next(order), act))

    def to_receiver(passage: Passage) -> None:
        for piece in passage.pieces:
            if not piece.lost:
                schedule(piece.arrives_ns, lambda now, packet=piece.packet: receiver.segment(now, packet))  # type: ignore[misc]

    def to_sender(passage: Passage) -> None:
        for piece in passage.pieces:
            schedule(piece.arrives_ns, lambda now, packet=piece.packet: sender.acknowledged(now, packet))  # type: ignore[misc]

    receiver = Receiver(receiving, sending, plan, schedule, to_sender)
    sender = Sender(sending, receiving, plan, schedule, to_receiver)
    start = sending.acts_ns()
    end = None if plan.until_ms is None else start + round(plan.until_ms * 1e6)
    sender.start(start)
    while events and not sender.done():
        now, _, act = heapq.heappop(events)
        if end is not None and now > end:
            sending.now_ns = receiving.now_ns = end
            return
        act(now)
