"""Format the matrix as lines for a terminal and as Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from pretok_bench.matrix import COLUMNS, Cell, Part, cell_of, cells, means, parts, peers_of, place
from pretok_bench.report import cost
from pretok_bench.timing import OURS, Result

HEADER = (
    f"{'text':13} {'vocabulary':12} {'what':28} {'pretok':>11}  "
    f"{'best peer':12} {'':>11} {'times as good':>22}"
)
NO_PEER = "no peer"


def line(result: Result) -> str:
    """Return the line of one cell: the time of pretok, the best peer and the ratio."""
    cell = cell_of(result)
    text = f"{cell.text[:13]:13} {cell.subject[:12]:12} {cell.what[:28]:28} "
    text += f"{cost(result, OURS):>11}  "
    if cell.ratio is None:
        return text + NO_PEER
    ratios = result.ratios(cell.peer)
    ratio = f"{cell.ratio:.2f} ({min(ratios):.2f} to {max(ratios):.2f})"
    return text + f"{cell.peer[:12]:12} {cost(result, cell.peer):>11} {ratio:>22}"


def summary(results: Sequence[Result], absent: Mapping[str, str]) -> Iterator[str]:
    """Yield the means, the lost cells, and the peers and vocabularies that are left out.

    pretok loses a cell if a peer is faster. `absent` maps each missing vocabulary to the reason.
    """
    all_cells = cells(results)
    for heading, mean in means(all_cells).items():
        yield f"geometric mean against the best peer, {heading}: {mean:.2f}"
    lost = [cell for cell in all_cells if cell.is_lost]
    compared = sum(cell.ratio is not None for cell in all_cells)
    yield f"{len(lost)} of {compared} cells lost{':' if lost else ''}"
    for cell in sorted(lost, key=lambda cell: cell.ratio or 0):
        yield f"  {cell.ratio:.2f} {place(cell)}, against {cell.peer}"
    yield from left_out(results)
    yield from (f"vocabulary {name} is left out: {why}" for name, why in absent.items())


def left_out(results: Sequence[Result]) -> Iterator[str]:
    """Yield a line for each reason to leave out peers, with the names of these peers.

    If the reason does not hold for all vocabularies, the vocabularies for which it holds follow the
    name of the peer in parentheses.
    """
    by_vocabulary = parts(results)
    where: dict[str, dict[str, list[str]]] = {}
    for subject, row in by_vocabulary.items():
        for peer, part in row.items():
            for why in part.reasons:
                where.setdefault(why, {}).setdefault(peer, []).append(subject)
            if part.other_answers:
                texts = f"{subject}: {', '.join(part.other_answers)}"
                where.setdefault("its ids differ", {}).setdefault(peer, []).append(texts)
    for why, peers in where.items():
        labels = (
            peer if subjects == list(by_vocabulary) else f"{peer} ({'; '.join(subjects)})"
            for peer, subjects in peers.items()
        )
        yield f"left out, as {why}: {', '.join(labels)}"


def markdown(
    record: Mapping[str, Any], results: Sequence[Result], absent: Mapping[str, str]
) -> str:
    """Return the matrix as Markdown: means, the best peer of each cell, the Part of each peer.

    `record` is the JSON of report.record, and `absent` maps missing vocabularies to reasons.
    """
    all_cells = cells(results)
    peers = peers_of(results)
    versions = [f"{peer} {record['peers'].get(peer) or '?'}" for peer in peers]
    settings = record["settings"]
    blocks = [
        ["# pretok against the best peer of each cell"],
        [
            f"{record['date'][:10]}, {record['processor'] or record['machine']}, one core, Python "
            f"{record['python']}, {settings['rounds']} rounds in turn"
            + ("" if record["complete"] else "; **incomplete: the run was interrupted**")
            + "."
        ],
        [f"pretok {record['pretok']} ({record['backend']}) against {', '.join(versions)}."],
        [
            "A cell has the time or speed of pretok, the ratio, and the name of the best peer. The",
            "ratio is the time of the peer divided by the time of pretok, the median of all",
            "rounds; the peer is faster if it is below 1 (bold). All ids were compared before the",
            "measurements; a peer with other ids is left out. Some peers keep the ids of whole",
            "texts, and look them up when the same text comes again (warm). In the columns unseen,",
            "the caches are warm from other texts, and each text is new.",
        ],
        table(("shape", "geometric mean"), ((k, f"{v:.2f}") for k, v in means(all_cells).items())),
        *_cell_tables(all_cells),
        ["## Peers by vocabulary"],
        table(("vocabulary", *peers), _part_rows(parts(results), peers)),
        [f"- {line}" for line in left_out(results)],
        [f"- vocabulary {name} is left out: {why}" for name, why in absent.items()],
    ]
    return "\n\n".join("\n".join(block) for block in blocks if block) + "\n"


def _cell_tables(all_cells: Sequence[Cell]) -> Iterator[list[str]]:
    """Yield blocks of lines: a heading and a table of cells with texts, then without texts."""
    for heading, has_text in (("By text", True), ("By vocabulary", False)):
        chosen = [cell for cell in all_cells if bool(cell.text) is has_text]
        whats = [what for what in COLUMNS if any(cell.what == what for cell in chosen)]
        rows: dict[tuple[str, ...], dict[str, str]] = {}
        for cell in chosen:
            key = (cell.subject, cell.text) if has_text else (cell.subject,)
            rows.setdefault(key, {})[cell.what] = _shown(cell)
        if rows:
            heads = ("vocabulary", "text") if has_text else ("vocabulary",)
            yield [f"## {heading}"]
            yield table(
                (*heads, *(" ".join(COLUMNS[what]) for what in whats)),
                ((*key, *(row.get(what, "") for what in whats)) for key, row in rows.items()),
            )


def _shown(cell: Cell) -> str:
    """Return the Markdown of `cell`: the cost of pretok, the ratio, and the best peer."""
    ours = cost(cell.result, OURS)
    if cell.ratio is None:
        return f"{ours}, {NO_PEER}"
    ratio = f"**{cell.ratio:.2f}**" if cell.is_lost else f"{cell.ratio:.2f}"
    return f"{ours}, {ratio} {cell.peer}"


def _part_rows(
    by_vocabulary: Mapping[str, Mapping[str, Part]], peers: Sequence[str]
) -> Iterator[tuple[str, ...]]:
    for subject, row in by_vocabulary.items():
        yield (subject, *(_part(row[peer]) if peer in row else "" for peer in peers))


def _part(part: Part) -> str:
    """Return the Markdown of `part`: whether the peer took part, or for which texts ids differ."""
    if part.other_answers:
        return f"other ids: {', '.join(part.other_answers)}" if part.texts else "other ids"
    return "yes" if part.texts else "refuses"


def table(heads: Iterable[str], rows: Iterable[Iterable[str]]) -> list[str]:
    """Return the lines of a Markdown table, or [] if there are no rows."""
    heads = tuple(heads)
    body = ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows]
    return [f"| {' | '.join(heads)} |", "|---" * len(heads) + "|", *body] if body else []
