"""Define reachability(), which finds a witness or a proof for each token of a tokenizer."""

from __future__ import annotations

from bpe.characters.text_vocabulary import AnyCharacterVocabulary
from bpe.tokenizer import Tokenizer
from bpe.witnesses.byte_tokens import ByteTokens
from bpe.witnesses.proofs import UNPROVEN
from bpe.witnesses.records import Reachability, TokenReach, TokenWitness
from bpe.witnesses.search import Search
from bpe.witnesses.text_tokens import TextTokens


def reachability(tokenizer: Tokenizer) -> Reachability:
    """Return a witness for each token, or the proof that no text becomes it.

    Encodes each token alone, then those that are left in contexts: with other characters around
    them, and, if they begin or end within a character of UTF-8, with the other bytes of the
    character. `Reachability` explains the kinds of results. Takes about two seconds for 200,000
    tokens with the native backend. Raises TypeError if `tokenizer` is not a Tokenizer.

    >>> import bpe
    >>> tok = bpe.train(["ab"], vocab_size=257)
    >>> bpe.reachability(tok).of(256)
    TokenWitness(id=256, token=b'ab', kind='alone', witness='ab', reason='the text is this token')
    """
    if not isinstance(tokenizer, Tokenizer):
        raise TypeError(f"expected a Tokenizer, got {type(tokenizer).__name__}")
    vocabulary = tokenizer.vocabulary
    added = {token.id: token.content for token in tokenizer.added_tokens}
    tokens = vocabulary.token_bytes
    wanted = {id: token for id, token in tokens.items() if id not in added}
    search = Search(tokenizer, {*added, *wanted})
    search.add(list(added.values()))
    found: ByteTokens | TextTokens
    if isinstance(vocabulary, AnyCharacterVocabulary):
        found = TextTokens(tokenizer, vocabulary, wanted, search)
    else:
        found = ByteTokens(tokenizer, wanted, search)
    found.search()
    records = []
    for id in sorted({*added, *wanted}):
        witness = search.witnesses.get(id)
        token = wanted[id] if id in wanted else added[id].encode()
        kind: TokenReach
        if id in added:
            kind, reason = ("added", "the text is this added token") if witness else UNPROVEN
        elif isinstance(witness, str):
            kind = "alone" if id in search.alone else "context"
            reason = "the text is this token" if kind == "alone" else "a token of the text"
        elif witness is None:
            kind, reason = found.verdict_of_bytes(id)
        else:
            kind, reason = found.verdict(id)
            if kind != "unproven":
                kind, reason = "bytes", f"no str becomes the token: {reason}"
        records.append(TokenWitness(id, token, kind, witness, reason))
    return Reachability(records)
