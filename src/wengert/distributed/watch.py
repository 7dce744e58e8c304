"""Watch: connections among the ranks that tell which rank has ended, and in which call each rank is.

MPI itself says neither: a call waits for ever if another rank has died or never makes the call. So rank 0 runs a thread, the hub,
to which each rank keeps one TCP connection. The operating system closes the connection of a process that ends, however it
ends, and the hub tells the others. A rank whose call takes too long asks the hub where the others are. Nothing is sent
while all is well, so calls cost nothing more.

Messages are lines of JSON. Each connection begins with a token that travels through MPI, so nobody else can join.
"""

from __future__ import annotations

import json
import os
import selectors
import socket
import threading
import time
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from typing import Any

from wengert import errors
from wengert._forks import in_child

__all__ = ["Hub", "Watch", "addresses"]

CONNECTING = 30.0  # seconds that a rank tries to reach the hub
ANSWERING = 2.0  # seconds that the hub waits for the ranks to say where they are
LEAVING = 10.0  # seconds that a rank which has failed waits for the others, which want to print their errors, too
PROBES = {"TCP_KEEPIDLE": 30, "TCP_KEEPINTVL": 10, "TCP_KEEPCNT": 6}  # so a machine that is gone is known after 90 seconds
WELCOME = {"welcome": True}  # the hub's first message to a rank
_sockets: list[socket.socket] = []  # a fork must not keep connections open that the death of this process shall close


@in_child
def _close_sockets() -> None:
    for connection in _sockets:
        connection.close()
    _sockets.clear()


def _prepare(connection: socket.socket) -> None:
    """Let the operating system send small messages at once, and close the connection if the other machine is gone."""
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in PROBES.items():
        with suppress(AttributeError, OSError):  # systems without the option have long times of their own
            connection.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)
    _sockets.append(connection)


def _send(connection: socket.socket, message: dict[str, Any]) -> None:
    """Send one line. A connection whose other end is gone is left to its reader, which sees that it has closed."""
    try:
        connection.sendall(json.dumps(message).encode() + b"\n")
    except TimeoutError:  # the other end has read nothing for long, and half a line is sent
        with suppress(OSError):
            connection.shutdown(socket.SHUT_RDWR)
    except OSError:
        pass


def _lines(buffer: bytearray) -> list[dict[str, Any]]:
    """Take the complete lines out of a buffer."""
    *complete, rest = bytes(buffer).split(b"\n")
    buffer[:] = rest
    return [json.loads(line) for line in complete]


def addresses() -> list[str]:
    """Return names and addresses at which other machines may find this one, or MASTER_ADDR alone if it is set."""
    given = os.environ.get("MASTER_ADDR")
    if given:
        return [given]
    found = [socket.getfqdn(), socket.gethostname()]
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe, suppress(OSError):
        probe.connect(("192.0.2.1", 9))  # of a network that is for documentation: nothing is sent
        found.append(probe.getsockname()[0])
    return list(dict.fromkeys([name for name in found if not name.startswith("localhost")]))


class Hub:
    """The thread of rank 0 that the ranks are connected to. size: number of ranks. Attributes: port, the TCP port."""

    def __init__(self, size: int, token: str, is_local: bool) -> None:
        self.size = size
        self.token = token
        self._selector = selectors.DefaultSelector()
        self._listener = socket.create_server(("127.0.0.1" if is_local else "", 0), backlog=size)
        self.port: int = self._listener.getsockname()[1]
        self._ranks: dict[socket.socket, int] = {}  # -1 until the token has come
        self._buffers: dict[socket.socket, bytearray] = {}
        self._ended: dict[int, str] = {}  # rank -> why
        self._states: dict[int, Any] = {}
        self._askers: list[socket.socket] = []
        self._answer_until = 0.0
        _sockets.append(self._listener)
        self._selector.register(self._listener, selectors.EVENT_READ)
        threading.Thread(target=self._run, name="wengert ranks", daemon=True).start()

    def _run(self) -> None:
        while True:
            wait = max(0.0, self._answer_until - time.monotonic()) if self._askers else None
            for key, _ in self._selector.select(wait):
                if key.fileobj is self._listener:
                    self._accept()
                else:
                    self._read(key.fileobj)  # type: ignore[arg-type]
            known = self._states.keys() | self._ended.keys()
            if self._askers and (time.monotonic() >= self._answer_until or len(known) >= self.size):
                self._answer()

    def _accept(self) -> None:
        connection, _ = self._listener.accept()
        _prepare(connection)
        connection.settimeout(ANSWERING)  # a rank that is stopped does not stop the hub
        self._ranks[connection] = -1
        self._buffers[connection] = bytearray()
        self._selector.register(connection, selectors.EVENT_READ)

    def _read(self, connection: socket.socket) -> None:
        try:
            data = connection.recv(65536)
        except OSError:
            data = b""
        if not data:
            self._close(connection)
            return
        self._buffers[connection] += data
        try:
            messages = _lines(self._buffers[connection])
        except ValueError:  # not one of ours
            messages = [{}] if self._ranks[connection] < 0 else []
        for message in messages:
            if self._ranks[connection] >= 0:
                self._take(connection, message)
            elif isinstance(message, dict) and message.get("token") == self.token:
                self._ranks[connection] = message["rank"]
                _send(connection, WELCOME)
            else:
                self._close(connection)
                return

    def _take(self, connection: socket.socket, message: dict[str, Any]) -> None:
        if "left" in message:
            self._end(self._ranks[connection], message["left"])
        elif "ask" in message:
            self._askers.append(connection)
            self._states.clear()
            self._answer_until = time.monotonic() + ANSWERING
            self._tell({"tell": message["ask"]})
        elif "state" in message:
            self._states[self._ranks[connection]] = message["state"]

    def _close(self, connection: socket.socket) -> None:
        self._selector.unregister(connection)
        del self._buffers[connection]
        if connection in _sockets:
            _sockets.remove(connection)
        rank = self._ranks.pop(connection)
        connection.close()
        if rank >= 0 and rank not in self._ended:
            self._end(rank, "has ended unexpectedly")

    def _end(self, rank: int, reason: str) -> None:
        self._ended[rank] = reason
        self._tell({"ended": rank, "reason": reason})
        if len(self._ended) == self.size:
            self._tell({"release": True})

    def _answer(self) -> None:
        for connection in self._askers:
            _send(connection, {"states": self._states})
        self._askers.clear()

    def _tell(self, message: dict[str, Any]) -> None:
        """Send a message to all ranks, to rank 0 last. See Note [End of MPI]."""
        for connection in sorted(self._ranks, key=lambda connection: self._ranks[connection], reverse=True):
            _send(connection, message)


class Watch:
    """One rank's connection to the hub.

    size: number of ranks. hosts: names and addresses of rank 0's machine, which are tried in turn. state: gives what this rank says
    when it is asked where it is in a group.

    Attributes: ended, rank -> (reason, time) of the ranks that have ended. Raises DistNetworkError if the hub cannot be reached.
    """

    def __init__(
        self, rank: int, size: int, hosts: Sequence[str], port: int, token: str, state: Callable[[str], Any]
    ) -> None:
        self.size = size
        self.ended: dict[int, tuple[str, float]] = {}
        self._state = state
        self._states: dict[str, Any] = {}
        self._answered = threading.Event()
        self._released = threading.Event()
        self._buffer = bytearray()
        self._connection = self._connect(hosts, port, {"rank": rank, "token": token})
        threading.Thread(target=self._run, name="wengert watch", daemon=True).start()

    def _connect(self, hosts: Sequence[str], port: int, greeting: dict[str, Any]) -> socket.socket:
        """Connect to the hub under the first of its names and addresses at which it answers."""
        problems = []
        for host in hosts:
            try:
                connection = socket.create_connection((host, port), CONNECTING / len(hosts))
                _prepare(connection)
                _send(connection, greeting)
                self._buffer[:] = connection.recv(65536)
            except OSError as error:
                problems.append(f"{host}:{port}: {error}")
                continue
            if self._buffer.startswith(json.dumps(WELCOME).encode()):
                connection.settimeout(None)
                return connection
            problems.append(f"{host}:{port}: another program answers")
            connection.close()
        raise errors.DistNetworkError(
            f"init_process_group: rank {greeting['rank']} cannot connect to rank 0 at {'; '.join(problems)}. Hint: let the "
            "machines reach each other by TCP; the environment variable MASTER_ADDR on rank 0 names the address to use."
        )

    def _run(self) -> None:
        while True:
            for message in _lines(self._buffer):
                self._take(message)
            try:
                data = self._connection.recv(65536)
            except OSError:
                data = b""
            if not data:
                break
            self._buffer += data
        self.ended.setdefault(0, ("has ended unexpectedly", time.monotonic()))
        self._answered.set()
        self._released.set()

    def _take(self, message: dict[str, Any]) -> None:
        if "ended" in message:
            self.ended.setdefault(message["ended"], (message["reason"], time.monotonic()))
        elif "tell" in message:
            _send(self._connection, {"state": self._state(message["tell"])})
        elif "states" in message:
            self._states = message["states"]
            self._answered.set()
        elif "release" in message:
            self._released.set()

    def ask(self, group: str) -> dict[int, Any]:
        """Return what the ranks say of a group: rank -> state. A rank that does not answer is missing."""
        self._answered.clear()
        self._states = {}
        _send(self._connection, {"ask": group})
        self._answered.wait(2 * ANSWERING)
        return {int(rank): state for rank, state in self._states.items()}

    def ended_rank(self, ranks: Collection[int], grace: float) -> tuple[int, str] | None:
        """Return one of some ranks that ended more than `grace` seconds ago, and why, or None."""
        for rank, (reason, when) in tuple(self.ended.items()):
            if rank in ranks and time.monotonic() - when > grace:
                return rank, reason
        return None

    def leave(self, reason: str, has_failed: bool, patience: float) -> bool:
        """Say that this rank ends, and wait until all have said so. After a failure, wait some seconds at most.

        patience: seconds after which the other ranks are asked for a sign of life, again and again. They may compute as long as
        they like. Raises DistBackendError if a rank gives none twice. Return whether all ranks have left in order."""
        _send(self._connection, {"left": reason})
        if has_failed:
            self._released.wait(LEAVING)
            return False
        silent: set[int] = set()
        while not self._released.wait(patience):
            before, silent = silent, set(range(self.size)) - self.ask("").keys() - self.ended.keys()
            if before & silent:
                raise errors.DistBackendError(
                    f"The program of this rank is over, and waits for rank {min(before & silent)}, which has not answered for "
                    f"{patience:g} seconds: it is stopped, or busy in compiled code."
                )
        return all(why == LEFT for why, _ in self.ended.values())


LEFT = "has left: its program is over"
