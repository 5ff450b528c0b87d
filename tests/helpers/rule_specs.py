"""Combinations of rules that a user might write, each with the equivalent regex."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from pretok import (
    ALL,
    ALL_BUT_LAST,
    BEFORE_NEWLINE,
    END_OF_TEXT,
    LAST_NEWLINE,
    CasedWord,
    Contraction,
    Enclosed,
    Groups,
    Literal,
    Phrase,
    Preset,
    Rule,
    Run,
    Spaces,
)
from pretok.charsets import (
    ANY,
    CASELESS,
    HAN,
    LETTER,
    LOWER,
    MARK,
    NEWLINE,
    NUMBER,
    OTHER,
    PUNCTUATION,
    SPACE,
    UPPER,
    WHITE_SPACE,
    code_points,
)


@dataclass(frozen=True)
class Spec:
    """`rules` must split like `pattern`.

    Tests try texts of up to `longest` characters of `alphabet`, which reach all states of `rules`.
    """

    name: str
    rules: tuple[Rule, ...]
    pattern: str
    alphabet: str
    longest: int = 5

    @property
    def preset(self) -> Preset:
        """The rules as a preset."""
        return Preset("spec", rules=self.rules, pattern=self.pattern)


ACUTE = "\u0301"
KELVIN = "\u212a"
LONG_S = "\u017f"
ETE = "\u00e9"
HAN_CHAR = "\u4e2d"
MODIFIER = "\u02b0"  # a letter without case

HEX = code_points("a-f", "0-9")
UPPERS = UPPER | CASELESS | MARK
LOWERS = LOWER | CASELESS | MARK
NOT_HAN = LETTER & ~HAN
LEAD = ~(NEWLINE | LETTER | NUMBER)
MANY = "abcdefghijkl"
KS = Contraction("k", "s", "ss")
KS_ANY_CASE = Contraction("k", "s", "ss", ignore_case=True)

SPECS = (
    # Contraction
    Spec("one suffix", (Contraction("s"),), "'s", "'sSa"),
    Spec("the first suffix that fits", (Contraction("r", "re"),), "'r|'re", "'rea"),
    Spec("the longer suffix first", (Contraction("re", "r"),), "'re|'r", "'rea"),
    Spec("suffixes beginning alike", (Contraction("ll", "lea", "le"),), "'ll|'lea|'le", "'lea", 6),
    Spec("Kelvin sign and long s, one case", (KS,), "'(?:k|s|ss)", f"'ksK{KELVIN}{LONG_S}"),
    Spec(
        "Kelvin sign and long s, any case",
        (KS_ANY_CASE,),
        "(?i:'k|'s|'ss)",
        f"'ksKS{KELVIN}{LONG_S}",
    ),
    Spec("capitals in a suffix", (Contraction("Re"),), "'Re", "'Rer"),
    Spec(
        "contraction after a word",
        (Run(LETTER), Contraction("s", "ve")),
        r"\p{L}+|'s|'ve",
        "'sve a",
    ),
    # Run
    Spec("body", (Run(LETTER),), r"\p{L}+", f"aB1 {ACUTE}"),
    Spec("lead", (Run(LETTER, lead=LEAD),), r"[^\r\n\p{L}\p{N}]?\p{L}+", f"a1 \n{ACUTE}"),
    Spec("lead of one code point", (Run(NUMBER, lead=code_points("#")),), r"#?\p{N}+", "#1a"),
    Spec("at most 1", (Run(NUMBER, at_most=1),), r"\p{N}", "12a"),
    Spec("at most 2", (Run(NUMBER, at_most=2),), r"\p{N}{1,2}", "12a", 6),
    Spec("at most 3, lead", (Run(NUMBER, at_most=3, lead=SPACE),), r" ?\p{N}{1,3}", "1 a", 7),
    Spec("at most 2, tail", (Run(NUMBER, at_most=2, tail=SPACE),), r"\p{N}{1,2} *", "1 a", 7),
    Spec(
        "at most 2, lead and tail",
        (Run(NUMBER, lead=LETTER, at_most=2, tail=PUNCTUATION),),
        r"\p{L}?\p{N}{1,2}\p{P}*",
        "1a. ",
        6,
    ),
    Spec(
        "at most 2, tail over body",
        (Run(LETTER, at_most=2, tail=LETTER | SPACE),),
        r"\p{L}{1,2}[\p{L} ]*",
        "ab 1",
    ),
    Spec("tail", (Run(OTHER, tail=NEWLINE),), r"[^\s\p{L}\p{N}]+[\r\n]*", "!.\n\ra "),
    Spec(
        "tail over body",
        (Run(OTHER, lead=SPACE, tail=NEWLINE | code_points("/")),),
        r" ?[^\s\p{L}\p{N}]+[\r\n/]*",
        "!/\n a",
    ),
    Spec("tail over lead", (Run(LETTER, lead=SPACE, tail=SPACE),), r" ?\p{L}+ *", "a 1"),
    Spec("tail is the body", (Run(LETTER, tail=LETTER),), r"\p{L}+\p{L}*", "ab1"),
    Spec("everything", (Run(ANY),), r"[\s\S]+", "a1 \n"),
    Spec("everything, three by three", (Run(ANY, at_most=3),), r"[\s\S]{1,3}", "a1 ", 7),
    Spec("ASCII range", (Run(code_points("a-f")),), "[a-f]+", f"afg{ETE}A"),
    Spec(
        "hexadecimal", (Run(HEX, lead=code_points("x"), at_most=2),), "x?[a-f0-9]{1,2}", "xf9g", 6
    ),
    Spec(
        "Han range",
        (Run(code_points((0x4E00, 0x9FA5))),),
        "[\u4e00-\u9fa5]+",
        "\u4e00\u9fa5\u9fa6\u4dffa",
    ),
    Spec(
        "range across planes",
        (Run(code_points((0xFFFE, 0x10001))),),
        "[\ufffe-\U00010001]+",
        "\ufffd\ufffe\U00010001\U00010002",
    ),
    Spec(
        "letters but Han, letters with marks",
        (Run(NOT_HAN, at_most=2), Run(LETTER | MARK, lead=SPACE)),
        r"(?:(?!\p{Han})\p{L}){1,2}| ?[\p{L}\p{M}]+",
        f"a{HAN_CHAR}{ACUTE} ",
    ),
    Spec(
        "letters in a range",
        (Run(LETTER & code_points((0x80, 0x10FFFF)), lead=UPPER - LETTER | SPACE),),
        r" ?(?:(?![\x00-\x7f])\p{L})+",
        f"a{ETE}{HAN_CHAR} ",
    ),
    # CasedWord
    Spec(
        "cased word",
        (CasedWord(UPPER, LOWER),),
        r"[\p{Lu}\p{Lt}]*\p{Ll}+|[\p{Lu}\p{Lt}]+\p{Ll}*",
        f"aA{HAN_CHAR}1",
    ),
    Spec(
        "cased word with letters without case",
        (CasedWord(UPPERS, LOWERS),),
        r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+"
        r"|[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*",
        f"aA{HAN_CHAR}1",
        7,
    ),
    Spec(
        "cased word with a lead",
        (CasedWord(UPPERS, LOWERS, lead=LEAD),),
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+"
        r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*",
        f"aA{ACUTE}{MODIFIER}! ",
        6,
    ),
    Spec(
        "cased word with a suffix",
        (CasedWord(UPPERS, LOWERS, suffix=KS_ANY_CASE),),
        r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'k|'s|'ss)?"
        r"|[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'k|'s|'ss)?",
        f"sS'{HAN_CHAR}{KELVIN}",
        6,
    ),
    Spec(
        "cased word, lead and suffix",
        (CasedWord(UPPER, LOWER, SPACE, Contraction("a")),),
        r" ?[\p{Lu}\p{Lt}]*\p{Ll}+(?:'a)?| ?[\p{Lu}\p{Lt}]+\p{Ll}*(?:'a)?",
        "aA' ",
    ),
    Spec(
        "cased word, the lead has letters without case",
        (CasedWord(UPPERS, LOWERS, lead=CASELESS),),
        r"[\p{Lm}\p{Lo}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+"
        r"|[\p{Lm}\p{Lo}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*",
        f"aA{ACUTE}{MODIFIER} ",
        6,
    ),
    # A past bug: the first code points of a word lacked this lead.
    Spec(
        "cased word, the lead is the apostrophe",
        (CasedWord(UPPER, LOWER, code_points("'")),),
        r"'?[\p{Lu}\p{Lt}]*\p{Ll}+|'?[\p{Lu}\p{Lt}]+\p{Ll}*",
        "aA' ",
    ),
    Spec(
        "cased word without Han",
        (Run(HAN), CasedWord(UPPERS - HAN, LOWERS - HAN, lead=LEAD), Spaces(ALL)),
        r"\p{Han}+|[^\r\n\p{L}\p{N}]?(?:(?!\p{Han})[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}])*"
        r"(?:(?!\p{Han})[\p{Ll}\p{Lm}\p{Lo}\p{M}])+"
        r"|[^\r\n\p{L}\p{N}]?(?:(?!\p{Han})[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}])+"
        r"(?:(?!\p{Han})[\p{Ll}\p{Lm}\p{Lo}\p{M}])*|\s+",
        f"aA{HAN_CHAR}{ACUTE} ",
    ),
    # Spaces
    Spec("all white space", (Spaces(ALL),), r"\s+", "a \n\u3000"),
    Spec("all but the last", (Spaces(ALL_BUT_LAST),), r"\s+(?!\S)", "a \n\u3000", 6),
    Spec("through the last line break", (Spaces(LAST_NEWLINE),), r"\s*[\r\n]+", "a \n\r", 6),
    Spec(
        "before the first line break", (Spaces(BEFORE_NEWLINE),), r"[^\S\r\n]+(?!\S)", "a \n\t", 6
    ),
    Spec(
        "spaces before other white space",
        (Run(NUMBER), Spaces(BEFORE_NEWLINE, newline=WHITE_SPACE - SPACE), Run(LETTER, lead=SPACE)),
        r"\p{N}+| +(?!\S)| ?\p{L}+",
        "a1 \n.",
        6,
    ),
    Spec(
        "before line breaks, and other rules for white space",
        (Spaces(BEFORE_NEWLINE), Spaces(LAST_NEWLINE), Spaces(ALL_BUT_LAST), Spaces(ALL)),
        r"[^\S\r\n]+(?!\S)|\s*[\r\n]+|\s+(?!\S)|\s+",
        "a \n\t",
        6,
    ),
    Spec("to the end of the text", (Spaces(END_OF_TEXT),), r"\s++$", "a \n", 7),
    Spec(
        "white space without a rule for line breaks",
        (Run(LETTER, lead=SPACE), Spaces(ALL_BUT_LAST), Spaces(ALL)),
        r" ?\p{L}+|\s+(?!\S)|\s+",
        "a \n1",
        6,
    ),
    Spec(
        "white space first",
        (Spaces(LAST_NEWLINE), Run(LETTER, lead=WHITE_SPACE)),
        r"\s*[\r\n]+|\s?\p{L}+",
        "a \n\t",
        6,
    ),
    Spec(
        "a rule for all white space leaves nothing to the next rule",
        (Spaces(ALL), Spaces(END_OF_TEXT), Run(ANY, at_most=1)),
        r"\s+|\s++$|[\s\S]",
        "a \n",
    ),
    Spec(
        "the end, then line breaks",
        (Spaces(END_OF_TEXT), Spaces(LAST_NEWLINE), Run(LETTER, lead=SPACE)),
        r"\s++$|\s*[\r\n]+| ?\p{L}+",
        "a \n",
        7,
    ),
    Spec(
        "limited white space",
        (Spaces(ALL_BUT_LAST, 4, 4), Spaces(ALL_BUT_LAST, 2), Spaces(ALL, 1)),
        r"\s{4}(?!\S)|\s{1,2}(?!\S)|\s",
        "a \n",
        7,
    ),
    Spec(
        "line breaks, then limited white space",
        (Spaces(LAST_NEWLINE), Spaces(ALL, 3, 2), Run(LETTER, lead=SPACE)),
        r"\s*[\r\n]+|\s{2,3}| ?\p{L}+",
        "a \n",
        7,
    ),
    # More of Run
    Spec(
        "at least 3",
        (Run(NUMBER, at_least=3, at_most=3), Run(LETTER, at_least=2)),
        r"\p{N}{3}|\p{L}{2,}",
        "1a ",
        8,
    ),
    Spec(
        "at least 2, lead and tail",
        (Run(NUMBER, lead=SPACE, at_least=2, tail=PUNCTUATION),),
        r" ?\p{N}{2,}\p{P}*",
        "1 .",
        7,
    ),
    Spec(
        "no match without a lead",
        (Run(LETTER, lead=PUNCTUATION, lead_required=True), Run(LETTER | MARK)),
        r"\p{P}\p{L}+|[\p{L}\p{M}]+",
        f"a.{ACUTE} ",
        6,
    ),
    Spec(
        "a lead that may belong to the body",
        (Run(LETTER | MARK, lead=~(NEWLINE | LETTER | PUNCTUATION)), Run(ANY, at_most=1)),
        r"[^\r\n\p{L}\p{P}]?[\p{L}\p{M}]+|[\s\S]",
        f"a.{ACUTE} \n",
        6,
    ),
    Spec(
        "a tail of at most one",
        (Run(OTHER, lead=SPACE, tail=NEWLINE | code_points("/"), tail_at_most=1), Spaces(ALL)),
        r" ?[^\s\p{L}\p{N}]+[\r\n/]?|\s+",
        "!/\n a",
        6,
    ),
    Spec(
        "a tail of at most two",
        (Run(NUMBER, at_most=2, tail=SPACE, tail_at_most=2), Spaces(ALL_BUT_LAST)),
        r"\p{N}{1,2} {0,2}|\s+(?!\S)",
        "1 a",
        8,
    ),
    # Literal, Enclosed
    Spec(
        "texts, the longer ones first",
        (Literal("\n", "    ", "  "), Run(LETTER, lead=SPACE)),
        r"\n|    |  | ?\p{L}+",
        "a \n",
        8,
    ),
    Spec("texts, the shorter one first", (Literal("a", "ab", "bb"),), "a|ab|bb", "abc", 7),
    Spec(
        "literal texts with characters that are special in patterns",
        (Literal("[a]", "."), Run(LETTER)),
        r"\[a\]|\.|\p{L}+",
        "[a]. ",
        6,
    ),
    Spec(
        "enclosed digits",
        (Enclosed("<n:", code_points("0-9"), ">"), Run(NUMBER)),
        r"<n:[0-9]+>|\p{N}+",
        "<n:1>",
        7,
    ),
    Spec(
        "two or three enclosed, the end begins like the start",
        (Enclosed("aa", code_points("b-c"), "ad", 3, 2),),
        "aa[bc]{2,3}ad",
        "abd",
        9,
    ),
    Spec(
        "the body has the letters of the start",
        (Enclosed("AB", code_points("A-C"), "Z", at_most=3),),
        "AB[A-C]{1,3}Z",
        "ABCZ",
        7,
    ),
    # Groups
    Spec(
        "groups of three",
        (Groups(NUMBER), Run(LETTER, lead=SPACE)),
        r"\p{N}{1,3}(?=(?:\p{N}{3})*(?!\p{N}))| ?\p{L}+",
        "1a ",
        9,
    ),
    Spec(
        "whole groups of two",
        (Groups(NUMBER, 2, 2),),
        r"\p{N}{2}(?=(?:\p{N}{2})*(?!\p{N}))",
        "1a",
        9,
    ),
    Spec(
        "groups of three, not before a letter",
        (Groups(NUMBER, at_least=2, unless_before=LETTER | NUMBER), Run(ANY, at_most=2)),
        r"\p{N}{2,3}(?=(?:\p{N}{3})*(?![\p{L}\p{N}]))|[\s\S]{1,2}",
        "1a ",
        8,
    ),
    # Phrase
    Spec(
        "words with one space between",
        (Phrase(LETTER, MARK, SPACE, lead=LEAD), Spaces(ALL)),
        r"[^\r\n\p{L}\p{N}]?(?:\p{L}\p{M}*(?: \p{L}\p{M}*)*)+|\s+",
        f"a {ACUTE}1",
        7,
    ),
    Spec(
        "words whose first letter is of another class than the rest",
        (Phrase(UPPER, LOWER | NUMBER, PUNCTUATION),),
        r"(?:[\p{Lu}\p{Lt}][\p{Ll}\p{N}]*(?:\p{P}[\p{Lu}\p{Lt}][\p{Ll}\p{N}]*)*)+",
        "aA.1",
        7,
    ),
    # Effects of order
    Spec(
        "a run whose tail has all other code points",
        (Run(~UPPER, tail=UPPER), Run(LETTER)),
        r"[^\p{Lu}\p{Lt}]+[\p{Lu}\p{Lt}]*|\p{L}+",
        f"aT'{HAN_CHAR} ",
        6,
    ),
    Spec(
        "many classes",
        tuple(Run(code_points(a), tail=code_points(b)) for a, b in pairwise(MANY)),
        "|".join(f"{a}+{b}*" for a, b in pairwise(MANY)),
        MANY,
        3,
    ),
    Spec(
        "single letters first",
        (Run(UPPER, at_most=1), Run(LETTER, lead=SPACE)),
        r"[\p{Lu}\p{Lt}]| ?\p{L}+",
        "aA 1",
        6,
    ),
    Spec(
        "a later rule has a longer match",
        (Run(LETTER), Run(LETTER | NUMBER), Run(NUMBER, lead=SPACE)),
        r"\p{L}+|[\p{L}\p{N}]+| ?\p{N}+",
        "a1 !",
        6,
    ),
    Spec(
        "the lead of one rule is the body of another",
        (Run(NUMBER, lead=PUNCTUATION), Run(PUNCTUATION)),
        r"\p{P}?\p{N}+|\p{P}+",
        "1.a",
        7,
    ),
    Spec(
        "white space as lead and as tail",
        (Run(LETTER, lead=SPACE, tail=NEWLINE), Spaces(ALL_BUT_LAST)),
        r" ?\p{L}+[\r\n]*|\s+(?!\S)",
        "a \n1",
        6,
    ),
)
