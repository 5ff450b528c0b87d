"""Measure splitting against `regex.findall` and the splitters of other packages."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

from pretok.fuzz.engines import HuggingFaceEngine, RegexEngine
from pretok.machine.backend import BackendName
from pretok.pre_tokenizer import PreTokenizer
from pretok.preset import Preset
from pretok_bench.answers import WrongAnswerError, same_items
from pretok_bench.peer import CannotError, Peer, guarded
from pretok_bench.timing import OURS, Result, Settings, Watcher, alternate, once, seconds

GROUP = "split"
METHODS = ("offsets", "split", "count")
"""The methods of PreTokenizer to time."""
GIGATOKEN_UNICODE = "17.0"
"""The Unicode version of gigatoken."""
GIGATOKEN_PRESET = "gpt2"
"""The only preset of `gigatoken.pretokenizer`, which has no parameter for a preset."""


class _Splitter(NamedTuple):
    """Functions that split one text: `ours` of pretok, and `theirs` of a peer.

    If the pre-tokens are equal, both functions return equal results. `methods` are the methods to
    time of `tokenizer`, a PreTokenizer of pretok.
    """

    tokenizer: PreTokenizer
    ours: Callable[[], Sequence[Any]]
    theirs: Callable[[], Sequence[Any]]
    methods: tuple[str, ...]


def bench_split(
    name: str,
    text: str,
    preset: Preset,
    backend: BackendName | None,
    peers: Sequence[Peer],
    settings: Settings,
    watch: Watcher,
) -> Iterator[Result]:
    """Yield the results of offsets, split and count of `text`, each on one core.

    Each peer has separate results. In the results of a peer, pretok uses the Unicode version of
    this peer. Raises WrongAnswerError if the pre-tokens differ. If no peer can split, yield results
    of pretok alone.
    """
    able: dict[str, _Splitter] = {}
    absent: dict[str, str] = {}
    for peer in peers:
        try:
            with guarded(peer.name):
                able[peer.name] = _splitter(peer.name, text, preset, backend)
        except CannotError as error:
            absent[peer.name] = str(error)
    for peer_name, splitter in able.items():
        _check(f"{name}, preset {preset.name!r}", peer_name, text, splitter)
    if not able:
        tokenizer = PreTokenizer(preset, None, backend)
        ours = partial(tokenizer.split, text)
        able[OURS] = _Splitter(tokenizer, ours, ours, METHODS)
    for peer_name, splitter in able.items():
        contenders: dict[str, Callable[[], Sequence[float]]] = {
            OURS: partial(_method_times, splitter, text)
        }
        if peer_name != OURS:
            contenders[peer_name] = partial(once, splitter.theirs)
        rounds = alternate(contenders, settings, watch)
        for index, method in enumerate(splitter.methods):
            runs = {OURS: tuple(times[index] for times in rounds[OURS])}
            if peer_name != OURS:
                runs[peer_name] = tuple(times[0] for times in rounds[peer_name])
            work = dict.fromkeys(runs, float(len(text)))
            yield Result(GROUP, method, name, preset.name, "code point", runs, work, absent)
            absent = {}  # only the first result reports the absent peers


def _method_times(splitter: _Splitter, text: str) -> list[float]:
    """Return the seconds of each of `splitter.methods` on `text`."""
    tokenizer = splitter.tokenizer
    return [seconds(getattr(tokenizer, method), text) for method in splitter.methods]


def _splitter(peer: str, text: str, preset: Preset, backend: BackendName | None) -> _Splitter:
    """Return the _Splitter of `text` for the peer of this name.

    Raises CannotError if the peer cannot split like `preset`.
    """
    if peer == "regex":
        engine = RegexEngine()
        refusal = engine.unsupported_reason(preset)
        if refusal:
            raise CannotError(f"preset {preset.name!r}: {refusal}")
        import regex

        tokenizer = PreTokenizer(preset, engine.unicode(preset), backend)
        findall = regex.compile(preset.pattern).findall
        return _Splitter(tokenizer, partial(tokenizer.split, text), partial(findall, text), METHODS)
    if peer == "tokenizers":
        return _huggingface(text, preset, backend)
    if peer == "gigatoken":
        return _gigatoken(text, preset, backend)
    raise CannotError("it cannot split text without encoding it")


def _huggingface(text: str, preset: Preset, backend: BackendName | None) -> _Splitter:
    engine = HuggingFaceEngine()
    refusal = engine.unsupported_reason(preset)
    if refusal:
        raise CannotError(f"preset {preset.name!r}: {refusal}")
    from tokenizers import Regex, pre_tokenizers

    tokenizer = PreTokenizer(preset, engine.unicode(preset), backend)
    splitter = pre_tokenizers.Split(Regex(preset.pattern), "isolated")

    def theirs() -> Sequence[Any]:
        pieces: Sequence[Any] = splitter.pre_tokenize_str(text)
        return pieces

    def ours() -> Sequence[Any]:
        spans = tokenizer.spans(text)
        return [(text[start:end], (start, end)) for start, end in spans]

    return _Splitter(tokenizer, ours, theirs, ("split",))


def _gigatoken(text: str, preset: Preset, backend: BackendName | None) -> _Splitter:
    if preset.name != GIGATOKEN_PRESET:
        raise CannotError(
            f"it can split text without encoding it only with preset {GIGATOKEN_PRESET}"
        )
    import gigatoken

    tokenizer = PreTokenizer(preset, GIGATOKEN_UNICODE, backend)
    data = text.encode()
    return _Splitter(
        tokenizer,
        partial(tokenizer.split_bytes, data),
        lambda: list(gigatoken.pretokenizer(data)),
        ("split",),
    )


def _check(where: str, peer: str, text: str, splitter: _Splitter) -> None:
    """Raise WrongAnswerError if the peer, or a method of pretok, splits `text` differently."""
    ours, theirs = splitter.ours(), splitter.theirs()
    try:
        same_items(where, "pre-token", peer, ours, theirs)
    except WrongAnswerError as error:
        raise WrongAnswerError(f"{error}; run `pretok fuzz` to find the smallest text") from None
    tokenizer = splitter.tokenizer
    offsets = tokenizer.offsets(text)
    if tokenizer.count(text) != len(ours) or len(offsets) != len(ours) + 1:
        raise WrongAnswerError(f"{where}: split(), offsets() and count() disagree")
