"""List the decoders that files can hold."""

from __future__ import annotations

from bpe.decoders import steps
from bpe.normalizers.registry import Registry

DECODERS: Registry[steps.TokenStep] = Registry(
    {
        "ByteLevel": steps.ByteLevel,
        "ByteFallback": steps.ByteFallback,
        "Fuse": steps.Fuse,
        "Strip": steps.Strip,
        "Replace": steps.Replace,
        "Metaspace": steps.Metaspace,
        "BPEDecoder": steps.BPEDecoder,
        "WordPiece": steps.WordPiece,
        "CTC": steps.CTC,
    }
)
