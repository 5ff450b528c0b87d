"""List the special tokens of Llama 3, Llama 4, Qwen and Whisper, as the code of their packages."""

from __future__ import annotations

from collections.abc import Iterable


def _numbered(texts: Iterable[str], first: int) -> dict[str, int]:
    """Return the ids of special tokens, from `first` on; `texts` have no "<|" and "|>"."""
    return {f"<|{text}|>": id for id, text in enumerate(texts, first)}


def _reserved(name: str, *numbers: int) -> list[str]:
    """Return the reserved tokens from the first to the last of `numbers`, which is left out."""
    return [f"{name}reserved_special_token_{number}" for number in range(*numbers)]


LLAMA3 = _numbered(
    ["begin_of_text", "end_of_text", *_reserved("", 0, 2), "finetune_right_pad_id", "step_id",
     "start_header_id", "end_header_id", "eom_id", "eot_id", "python_tag", "image",
     *_reserved("", 2, 246)],
    128000,
)  # fmt: skip
_LLAMA4 = [
    "begin_of_text", "end_of_text", "fim_prefix", "fim_middle", "fim_suffix",
    "header_start", "header_end", "eom", "eot", "step", *_reserved("text_post_train_", 0, 6),
    "python_start", "python_end", "finetune_right_pad", *_reserved("text_post_train_", 8, 69),
    "image_start", "image_end", *_reserved("vision_", 0, 2), "tile_x_separator",
    "tile_y_separator", *_reserved("vision_", 2, 6), "image", *_reserved("vision_", 6, 7), "patch",
    *_reserved("vision_", 7, 1048), *_reserved("reasoning_", 0, 8), "reasoning_thinking_start",
    "reasoning_thinking_end",
]  # fmt: skip
LLAMA4 = _numbered([*_LLAMA4, *_reserved("", 0, 2048 - len(_LLAMA4))], 200000)
QWEN = _numbered(
    ["endoftext", "im_start", "im_end", *(f"extra_{number}" for number in range(205))], 151643
)
_LANGUAGES = """
    en zh de es ru ko fr ja pt tr pl ca nl ar sv it id hi fi vi he uk el ms cs ro da hu ta
    no th ur hr bg lt la mi ml cy sk te fa lv bn sr az sl kn et mk br eu is hy ne mn bs kk
    sq sw gl mr pa si km sn yo so af oc ka be tg sd gu am yi lo uz fo ht ps tk nn mt sa lb
    my bo tl mg as tt haw ln ha ba jw su yue
"""


def whisper(first: int, languages: int) -> dict[str, int]:
    """Return the special tokens of a Whisper model with this number of languages."""
    codes = _LANGUAGES.split()[:languages]
    times = [f"{number * 0.02:.2f}" for number in range(1501)]
    return _numbered(
        ["endoftext", "startoftranscript", *codes, "translate", "transcribe", "startoflm",
         "startofprev", "nospeech", "notimestamps", *times],
        first,
    )  # fmt: skip
