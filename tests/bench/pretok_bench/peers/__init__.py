"""PEERS: the adapters of all packages, each with the fastest calls of its package.

In these modules, a rank file is a .tiktoken file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial

from pretok_bench.peer import Calls, CannotError, Peer, guarded
from pretok_bench.peers.bpe_openai import BpeOpenai
from pretok_bench.peers.fastokens import Fastokens, Snaptokens
from pretok_bench.peers.gigatoken import Gigatoken
from pretok_bench.peers.ours import Ours
from pretok_bench.peers.quicktok import Quicktok
from pretok_bench.peers.sentencepiece import Sentencepiece
from pretok_bench.peers.splintr import Splintr
from pretok_bench.peers.tiktoken import Tiktoken
from pretok_bench.peers.tokenizers import Tokenizers
from pretok_bench.peers.tokenizers_1 import Tokenizers1
from pretok_bench.peers.toktok import Toktok
from pretok_bench.peers.training import Regex, Rustbpe
from pretok_bench.peers.tuetoken import Tuetoken
from pretok_bench.subject import Subject

PEERS: dict[str, Peer] = {
    peer.name: peer
    for peer in (
        Gigatoken(),
        Fastokens(),
        Snaptokens(),
        Splintr(),
        Tuetoken(),
        Quicktok(),
        Toktok(),
        Tiktoken(),
        Tokenizers(),
        Tokenizers1(),
        BpeOpenai(),
        Sentencepiece(),
        Rustbpe(),
        Regex(),
    )
}


def installed(chosen: Iterable[str] = ()) -> tuple[list[Peer], dict[str, str]]:
    """Return the usable peers of `chosen`, and why each other peer of `chosen` is not usable.

    An empty `chosen` stands for all PEERS that need no virtual environment.
    """
    names = list(chosen) or [name for name, peer in PEERS.items() if not peer.needs_venv]
    peers = [PEERS[name] for name in names]
    missing = {peer.name: peer.missing() for peer in peers}
    present = [peer for peer in peers if not missing[peer.name]]
    return present, {name: why for name, why in missing.items() if why}


def able(
    subject: Subject,
    peers: Iterable[Peer],
    call: Callable[[Calls], object],
    what: str,
) -> tuple[dict[str, Callable[[], Calls]], dict[str, str]]:
    """Return the contenders that have a certain call, and the reasons why the other peers lack it.

    `call` takes the Calls of a contender, and returns the call, or None if the contender lacks it.
    The first dict maps each contender with the call to a function that returns new Calls; pretok
    comes first. The second dict maps each other peer to the reason, a message: the peer lacks the
    call, or fails on `subject`. The message refers to the call as `what`, such as "ids to str".
    """
    makers: dict[str, Callable[[], Calls]] = {}
    absent: dict[str, str] = {}
    for peer in (Ours(), *peers):
        try:
            with guarded(peer.name):
                if call(peer.calls(subject)) is None:
                    raise CannotError(f"it has no call for {what}")
        except CannotError as error:
            absent[peer.name] = str(error)
        else:
            makers[peer.name] = partial(peer.calls, subject)
    return makers, absent


def versions() -> dict[str, str | None]:
    """Return the installed release of each peer, or None if it is not installed."""
    return {name: peer.version() for name, peer in PEERS.items()}
