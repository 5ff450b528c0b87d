"""Read and write the section `steps` of .pretok files.

Only a file with flag 64, which needs version 3, has this section: its normalizer or its decoder is
one that a tokenizer.json can hold, but no older version of the format. The section has these parts.
A count or kind is a number.

    normalizer    the number of steps; for each its kind, an index in the list below, and options:
                  NFC, NFD, NFKC, NFKD, Lowercase, StripAccents, Nmt, ByteLevel: none; Strip: a
                  number (1: left; 2: right); BertNormalizer: a number (1: clean_text;
                  2: handle_chinese_chars; 4: lowercase; 8: strip_accents; 16: strip_accents is
                  null); Prepend: a text; Replace: the pattern and the content; Replace of a regex:
                  the pattern, the content, and a program; Precompiled: the size of the charsmap,
                  and the charsmap
    Metaspace     0, or one plus the index of the scheme (always, first, never), the replacement,
                  and 0, or 1 and a built-in preset, or 2 and another preset (the split before it)
    decoder       0: decoding joins the bytes of tokens; or one plus the number of steps, and for
                  each its kind and options: ByteLevel, ByteFallback, Fuse, null: none; Strip: the
                  character, start and stop; Replace, and Replace of a regex: as above; Metaspace:
                  the replacement, and the index of the scheme; BPEDecoder: the suffix; WordPiece:
                  the prefix and cleanup; CTC: the pad token, the word delimiter and cleanup

A program has the Unicode version, the number of words, and the words of one stage, whose rules
match what the regex matches (pretok.machine.program.serialize_stages). A preset is stored as in the
section `preset`. cpp/formats/pretok_file_steps.cpp is the C++ reader.
"""

from __future__ import annotations

from collections.abc import Callable

from bpe.decoders import steps as decoders
from bpe.decoders.chain import DecoderChain
from bpe.decoders.growth import problem_of_growth as decoder_growth
from bpe.encoding.utf8 import has_surrogates
from bpe.errors import UnsupportedError, VocabularyError
from bpe.formats.normalizer_json import MAX_TEXT
from bpe.formats.pretok_numbers import Reader, encode_number, encode_text
from bpe.formats.pretok_preset import dump_preset, is_own, read_preset
from bpe.formats.spec import TokenizerSpec
from bpe.normalizers import steps
from bpe.normalizers.chain import MetaspaceStep, NormalizerChain, PrependScheme
from bpe.normalizers.growth import problem_of_growth as normalizer_growth
from bpe.normalizers.precompiled import Precompiled
from bpe.normalizers.unicode_forms import FORMS, UnicodeForm
from pretok.errors import UnknownPatternError
from pretok.machine.program import serialize_stages
from pretok.patterns.char_sets import UnreadablePatternError
from pretok.patterns.compile import NotCompiledError

_PLAIN = (steps.Lowercase(), steps.StripAccents(), steps.Nmt(), steps.ByteLevel())
_STRIP, _BERT, _PREPEND, _REPLACE, _REGEX, _PRECOMPILED = range(8, 14)
_PLAIN_DECODERS = (
    decoders.ByteLevel(), decoders.ByteFallback(), decoders.Fuse(), decoders.Spaces()
)  # fmt: skip
_STRIP_TOKEN, _REPLACE_TOKEN, _REGEX_TOKEN, _METASPACE, _BPE, _WORD_PIECE, _CTC = range(4, 11)
_SCHEMES: tuple[PrependScheme, ...] = ("always", "first", "never")
_MAX_STRIPPED = 256
MAX_STEPS = 256
"""The maximal number of normalizers, and of decoders.

Each step takes some memory, so a small file with many of them could fill the memory.
"""


def problem_of_steps(spec: TokenizerSpec) -> str:
    """Return what a file cannot hold in the normalizer or the decoder of `spec`, or ""."""
    normalizer, decoder = spec.normalizer, spec.decoder
    if not isinstance(normalizer, NormalizerChain | None):
        return f"the normalizer {type(normalizer).__name__} with this model"
    if not isinstance(decoder, DecoderChain | None):
        return f"the decoder {type(decoder).__name__} with this model"
    chain = normalizer if isinstance(normalizer, NormalizerChain) else NormalizerChain()
    if max(len(chain.steps), len(decoder.steps) if decoder else 0) > MAX_STEPS:
        return f"more than {MAX_STEPS} normalizers or decoders"
    try:
        dump_steps(spec)
    except UnsupportedError as error:
        return str(error)
    return ""


def dump_steps(spec: TokenizerSpec) -> bytes:
    """Return the section; raises UnsupportedError for a step that it cannot hold."""
    chain = spec.normalizer if isinstance(spec.normalizer, NormalizerChain) else NormalizerChain()
    parts = [encode_number(len(chain.steps)), *map(_dump_step, chain.steps)]
    parts.append(_dump_metaspace(chain.metaspace))
    if spec.decoder is None:
        return b"".join([*parts, encode_number(0)])
    assert isinstance(spec.decoder, DecoderChain), "problem_of_steps has checked it"
    listed = spec.decoder.steps
    return b"".join([*parts, encode_number(1 + len(listed)), *map(_dump_decoder, listed)])


def read_steps(reader: Reader) -> tuple[NormalizerChain | None, DecoderChain | None]:
    """Return the normalizer and the decoder."""
    listed = tuple(_read_step(reader) for _ in range(_number(reader, MAX_STEPS)))
    if problem := normalizer_growth(listed):
        raise UnsupportedError(f"the file has normalizers that {problem}")
    metaspace = _read_metaspace(reader)
    chain = NormalizerChain(listed, metaspace) if listed or metaspace is not None else None
    count = _number(reader, MAX_STEPS + 1)
    if count == 0:
        return chain, None
    chosen = tuple(_read_decoder(reader) for _ in range(count - 1))
    if problem := decoder_growth(chosen):
        raise UnsupportedError(f"the file has decoders that {problem}")
    return chain, DecoderChain(chosen)


def _dump_step(step: steps.Step) -> bytes:
    kind, options = encode_step(step)
    return encode_number(kind) + options


def encode_step(step: steps.Step) -> tuple[int, bytes]:
    """Return the kind and the options of a normalizer."""
    # `type(step) is`, because a subclass may have any other effect.
    if type(step) is UnicodeForm:
        return FORMS.index(step.type), b""
    if step in _PLAIN:
        return len(FORMS) + _PLAIN.index(step), b""
    if type(step) is steps.Strip:
        return _STRIP, encode_number(step.strip_left + 2 * step.strip_right)
    if type(step) is steps.BertNormalizer:
        flags = (step.clean_text, step.handle_chinese_chars, step.lowercase,
                 bool(step.strip_accents), step.strip_accents is None)  # fmt: skip
        return _BERT, encode_number(sum(flag << bit for bit, flag in enumerate(flags)))
    if type(step) is steps.Prepend:
        return _PREPEND, _encode_short(step.prepend)
    if type(step) is steps.Replace:
        return (_REGEX if step.is_regex else _REPLACE), _encode_replace(step)
    if type(step) is Precompiled:
        charsmap = step.precompiled_charsmap
        return _PRECOMPILED, encode_number(len(charsmap)) + charsmap
    raise UnsupportedError(f"the normalizer {type(step).__name__}")


def _read_step(reader: Reader) -> steps.Step:
    kind = reader.number()
    if kind < len(FORMS):
        return UnicodeForm(FORMS[kind])
    if kind < _STRIP:
        return _PLAIN[kind - len(FORMS)]
    if kind == _STRIP:
        left, right = _flags(reader, 2)
        return steps.Strip(left, right)
    if kind == _BERT:
        clean, chinese, lowercase, accents, is_null = _flags(reader, 5)
        if accents and is_null:
            raise _unknown(reader)
        return steps.BertNormalizer(clean, chinese, None if is_null else accents, lowercase)
    if kind == _PREPEND:
        return steps.Prepend(_short(reader, may_be_empty=True))
    if kind in (_REPLACE, _REGEX):
        return _read_replace(reader, kind == _REGEX)
    if kind == _PRECOMPILED:
        try:
            return Precompiled(reader.take(reader.count(1)))
        except VocabularyError as error:
            raise reader.error(f"has a wrong charsmap: {error}") from None
    raise _unknown(reader)


def _encode_replace(step: steps.Replace) -> bytes:
    texts = _encode_short(step.pattern) + _encode_short(step.content)
    if not step.is_regex:
        return texts
    preset = step.isolated.preset
    words = serialize_stages(preset.stages)
    numbers = map(encode_number, words)
    return b"".join([texts, encode_text(preset.unicode), encode_number(len(words)), *numbers])


def _read_replace(reader: Reader, is_regex: bool) -> steps.Replace:
    pattern, content = _short(reader), _short(reader, may_be_empty=True)
    try:
        step = steps.Replace(pattern, content, is_regex)
    except (UnknownPatternError, UnreadablePatternError, NotCompiledError) as error:
        raise reader.error(f"has a wrong regex: {error}") from None
    if is_regex:
        preset = step.isolated.preset
        unicode = reader.text()
        words = [reader.number() for _ in range(reader.count(1))]
        if unicode != preset.unicode or words != serialize_stages(preset.stages):
            raise UnsupportedError(
                f"the file has another program for the regex {pattern[:80]!a} than this version "
                "of pretok; save the tokenizer again"
            )
    return step


def _dump_metaspace(step: MetaspaceStep | None) -> bytes:
    if step is None:
        return encode_number(0)
    scheme = encode_number(1 + _SCHEMES.index(step.prepend_scheme))
    texts = scheme + _encode_character(step.replacement)
    if step.before is None:
        return texts + encode_number(0)
    # The split before Metaspace uses the Unicode version of the preset.
    preset = dump_preset(step.before, step.before.unicode)
    return texts + encode_number(1 + is_own(step.before)) + preset


def _read_metaspace(reader: Reader) -> MetaspaceStep | None:
    scheme = reader.number()
    if scheme == 0:
        return None
    if scheme > len(_SCHEMES):
        raise _unknown(reader)
    replacement, form = _character(reader), reader.number()
    if form > 2:
        raise _unknown(reader)
    before = None
    if form:
        before, why, unicode = read_preset(reader, form == 2)
        if before is None or unicode != before.unicode:
            raise UnsupportedError(why or f"the file uses Unicode {unicode} for a preset")
    return MetaspaceStep(replacement, _SCHEMES[scheme - 1], before)


def _dump_decoder(step: decoders.Step) -> bytes:
    kind, options = encode_decoder(step)
    return encode_number(kind) + options


def encode_decoder(step: decoders.Step) -> tuple[int, bytes]:
    """Return the kind and the options of a decoder."""
    if step in _PLAIN_DECODERS:
        return _PLAIN_DECODERS.index(step), b""
    if type(step) is decoders.Strip:
        if max(step.start, step.stop) > _MAX_STRIPPED:
            raise UnsupportedError(f"a decoder that strips more than {_MAX_STRIPPED} characters")
        counts = encode_number(step.start) + encode_number(step.stop)
        return _STRIP_TOKEN, _encode_character(step.content) + counts
    if type(step) is decoders.Replace:
        kind = _REGEX_TOKEN if step.replace.is_regex else _REPLACE_TOKEN
        return kind, _encode_replace(step.replace)
    if type(step) is decoders.Metaspace:
        scheme = encode_number(_SCHEMES.index(step.prepend_scheme))
        return _METASPACE, _encode_character(step.replacement) + scheme
    if type(step) is decoders.BPEDecoder:
        return _BPE, _encode_short(step.suffix)
    if type(step) is decoders.WordPiece:
        return _WORD_PIECE, _encode_short(step.prefix) + encode_number(step.cleanup)
    if type(step) is decoders.CTC:
        texts = _encode_short(step.pad_token) + _encode_short(step.word_delimiter_token)
        return _CTC, texts + encode_number(step.cleanup)
    raise UnsupportedError(f"the decoder {type(step).__name__}")


def _read_decoder(reader: Reader) -> decoders.Step:
    kind = reader.number()
    if kind < len(_PLAIN_DECODERS):
        return _PLAIN_DECODERS[kind]
    readers: dict[int, Callable[[], decoders.Step]] = {
        _STRIP_TOKEN: lambda: decoders.Strip(
            _character(reader), _number(reader, _MAX_STRIPPED), _number(reader, _MAX_STRIPPED)
        ),
        _REPLACE_TOKEN: lambda: decoders.Replace(_read_replace(reader, False)),
        _REGEX_TOKEN: lambda: decoders.Replace(_read_replace(reader, True)),
        _METASPACE: lambda: decoders.Metaspace(_character(reader), _SCHEMES[_number(reader, 2)]),
        _BPE: lambda: decoders.BPEDecoder(_short(reader)),
        _WORD_PIECE: lambda: decoders.WordPiece(
            _short(reader, may_be_empty=True), bool(_number(reader, 1))
        ),
        _CTC: lambda: decoders.CTC(
            _short(reader, may_be_empty=True),
            _short(reader, may_be_empty=True),
            bool(_number(reader, 1)),
        ),
    }
    if kind not in readers:
        raise _unknown(reader)
    return readers[kind]()


def _encode_short(text: str) -> bytes:
    if len(text) > MAX_TEXT or has_surrogates(text):
        raise UnsupportedError("a text of a normalizer or decoder that is too long or not Unicode")
    return encode_text(text)


def _short(reader: Reader, may_be_empty: bool = False) -> str:
    text = reader.text()
    if len(text) > MAX_TEXT or not (text or may_be_empty):
        raise reader.error("has a text of a normalizer or decoder that is empty or too long")
    return text


def _encode_character(text: str) -> bytes:
    if len(text) != 1:
        raise UnsupportedError("a normalizer or decoder with a text in place of a character")
    return _encode_short(text)


def _character(reader: Reader) -> str:
    text = _short(reader)
    if len(text) != 1:
        raise _unknown(reader)
    return text


def _number(reader: Reader, limit: int) -> int:
    number = reader.number()
    if number > limit:
        raise _unknown(reader)
    return number


def _flags(reader: Reader, count: int) -> tuple[bool, ...]:
    number = _number(reader, (1 << count) - 1)
    return tuple(bool(number >> bit & 1) for bit in range(count))


def _unknown(reader: Reader) -> VocabularyError:
    return reader.error("has an unknown normalizer or decoder")
