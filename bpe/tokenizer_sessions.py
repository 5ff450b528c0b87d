"""Define TokenizerSessions, a base class of Tokenizer: texts that change, and ids of a model."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import cast, get_args

import numpy as np

from bpe.encoding.encode_stream import EncodeStream
from bpe.encoding.foreign_arguments import ENCODE, explained
from bpe.encoding.offsets import UnitOffsets
from bpe.encoding.segments import listed_segments, parsed_segment, refused_in_segment
from bpe.errors import SpecialTokenError, named_error, shortened
from bpe.sessions.kept_text import KeptText, PythonText
from bpe.sessions.session import Session
from bpe.sessions.splice import Splice
from bpe.tokenizer_budgets import TokenizerBudgets
from bpe.types import Errors, SegmentLike, Special, Template, Text, Unit

_TEXT = get_args(Text)


class TokenizerSessions(TokenizerBudgets):
    """Keeps the ids of texts that come in chunks or change; Tokenizer explains the arguments."""

    __slots__ = ()

    @explained(ENCODE)
    def encode_stream(
        self,
        special: Special = "raise",
        *,
        errors: Errors = "replace",
        add_special_tokens: bool = False,
        continuation: bool = False,
    ) -> EncodeStream:
        """Return a new EncodeStream, which encodes a text that comes in chunks.

        The ids of all its calls together are those of `encode` for the whole text.

        >>> import bpe
        >>> stream = bpe.train(["ab"], vocab_size=257).encode_stream()
        >>> [stream.feed("a"), stream.feed("b"), stream.finish()]
        [[], [], [256]]
        """
        find_cut = partial(self._safe_cut, special=special)
        template = self.template if add_special_tokens else Template()
        return EncodeStream(self._pipeline, find_cut, special, errors, template, bool(continuation))

    def session(
        self,
        text: Text = "",
        special: Special = "raise",
        *,
        errors: Errors = "replace",
        add_special_tokens: bool = False,
        continuation: bool = False,
        unit: Unit | None = None,
        keep_text: bool = True,
    ) -> Session:
        """Return a Session that begins with `text`: a text that changes, and its ids.

        Positions count `unit`, "char" or "byte". The default is the unit that indexes `text`. With
        "char", all text must be valid UTF-8. Raises the errors of `encode`, and ValueError for
        another unit. With `keep_text=False`, the session drops text that no append changes (if it
        is encoded in C++); only `append`, `peek`, `extend`, `fork`, `ids`, `stable` and sizes work.

        >>> import bpe
        >>> tok = bpe.train(["ab", "abc", "abcd"], vocab_size=259)
        >>> chat = tok.session("ab!")
        >>> chat.replace(2, 2, "cd").ids.tolist(), chat.ids.tolist()
        ([258], [258, 33])
        """
        if unit is None:
            unit = "char" if isinstance(text, str) else "byte"
        elif unit not in ("char", "byte"):
            raise ValueError(f"unit={shortened(unit)}; expected 'char' or 'byte'")
        session = Session(
            self._kept_text(continuation),
            self._pipeline,
            self._text_of_given,
            special,
            errors,
            self.template if add_special_tokens else Template(),
            continuation,
            unit,
            keep_text,
        )
        session.append(text)
        return session

    def splice(
        self,
        prompt_ids: Iterable[int],
        sampled_ids: Iterable[int],
        segments: Text | Iterable[SegmentLike],
        special: Special = "raise",
        *,
        errors: Errors = "replace",
    ) -> Splice:
        """Return the ids of a prompt, those that a model has made, and those of the text after.

        `prompt_ids` and `sampled_ids` stay as they are. `segments` is a text, or segments as in
        `encode_segments`, which is encoded as text that continues. Encoding the text of all ids
        again may give other ids; `Splice.drift` says where. Raises the errors of `encode`.

        >>> import bpe
        >>> tok = bpe.train(["ab", "abc", "abcd"], vocab_size=259)
        >>> spliced = tok.splice(tok.encode("ab "), [97, 98], "cd ab")
        >>> spliced.ids.tolist(), spliced.drift
        ([256, 32, 97, 98, 99, 100, 32, 256], 2)
        """
        session = self.session(b"", special, errors=errors)
        session.extend(prompt_ids)
        session.extend(sampled_ids)
        start = len(session)
        if isinstance(segments, _TEXT):
            segments = [segments]
        for at, segment in enumerate(listed_segments(cast("Iterable[SegmentLike]", segments))):
            size = session.size
            try:
                text, policy, ids = parsed_segment(segment, special)
                if text is not None:
                    session.append(text, policy)
                else:
                    session.extend(ids)
            except SpecialTokenError as error:
                place = UnitOffsets(text or "", errors).starts(np.array([error.position - size]))
                raise refused_in_segment(error.token, int(place[0]), at) from None
            except (TypeError, ValueError) as error:
                raise named_error(error, f"segments[{at}]") from None
        return Splice(session, start)

    def _kept_text(self, continuation: bool) -> KeptText:
        """Return an empty text for a session."""
        native: KeptText | None = self._pipeline.native_session(continuation)
        if native is not None:
            return native
        contents = {token.id: token.content for token in self.added_tokens}
        return PythonText(self._pipeline, contents, continuation)

    def _text_of_given(self, id: int) -> bytes:
        """Return the text of an id that a model has made; b"" if it has no token."""
        is_known = id < self.vocab_size and self._has_token[id]
        return self.rendered_bytes(id) if is_known else b""
