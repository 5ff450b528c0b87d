"""Vocabularies whose first symbols are characters, as in SentencePiece.

Characters and bytes are two alphabets of one merger. `merge` of bpe/merge.py merges symbols, which
are numbers, and does not know what they stand for. A vocabulary says how text becomes the first
symbols:

    Vocabulary            one symbol per byte
    CharacterVocabulary   one symbol per character; the scores of pieces order the merges
    TextVocabulary        one symbol per character; a list orders the merges, as in a tokenizer.json

After all merges, a single character may be left that is not a token. It becomes the tokens of its
bytes (`byte_ids`), or else the unknown token.

No pre-tokenizer splits the text of most such models. Merging still works on short parts. In most
vocabularies, a token has "▁" only at its start. Then no merge joins another character to a "▁" that
follows it. PieceMerger (merger.py) cuts the text between the two, and caches the tokens of each
part. If the vocabulary allows no cut, PieceMerger merges the whole text, in O(n log n) time.

C++ merges the same vocabularies, as characters or as bytes (cpp/formats/character_model.hpp).
"""
