"""What notebooks show: tables, the summary of a coverage, a flame graph. Every text of a trace is escaped."""
from __future__ import annotations

import base64
import html
from typing import Any, Iterable, Sequence

ROWS = 100  # of a table; its last line says how many there are


def cell(value: Any) -> str:
    """Missing values are empty, whatever holds them: None, or pandas' <NA>."""
    return "" if value is None or str(value) == "<NA>" else html.escape(f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value))


def table(columns: Sequence[str], rows: Sequence[dict]) -> str:
    head = "".join(f"<th>{html.escape(name)}</th>" for name in columns)
    body = "".join("<tr>" + "".join(f"<td>{cell(row.get(name))}</td>" for name in columns) + "</tr>" for row in rows[:ROWS])
    rest = f"<p>{ROWS} of {len(rows)} rows</p>" if len(rows) > ROWS else ""
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{rest}"


def records(rows: Any) -> Iterable[dict]:
    """The rows of a data frame, or of a list of dicts."""
    return rows.to_dict("records") if hasattr(rows, "to_dict") else rows


def share(part: int, whole: int) -> str:
    return f"{part}/{whole} ({100 * part / whole:.1f} %)" if whole else "0/0"


def coverage(lines: Any, branches: Any, functions: Any, gaps: int) -> str:
    """A row for each file, as `ntrace coverage` prints: executed of all lines, outcomes of branches, functions."""
    files: dict[str, list[int]] = {}

    def add(name: Any, at: int, part: int, whole: int) -> None:
        sums = files.setdefault(str(name), [0] * 8)
        sums[at] += part
        sums[at + 1] += whole

    for row in records(lines):
        if row["known"]:
            add(row["file"], 0, int(row["count"]) > 0, 1)
        else:
            add(row["file"], 6, 1, 1)
    for row in records(branches):
        add(row["file"], 2, (int(row["taken"]) > 0) + (int(row["not_taken"]) > 0), 2)
    for row in records(functions):
        if row["known"]:
            add(row["file"], 4, int(row["count"]) > 0, 1)
    shown = [{"file": name, "lines": share(*sums[0:2]), "branches": share(*sums[2:4]), "functions": share(*sums[4:6]), "unknown lines": sums[6]}
             for name, sums in sorted(files.items())]
    note = f"<p>{gaps} gaps hide executions: what is not executed here may have been executed there.</p>" if gaps else ""
    if not shown:
        return "<p>No line is known: the program has no debug information.</p>" + note
    return table(["file", "lines", "branches", "functions", "unknown lines"], shown) + note


def picture(svg: str) -> str:
    """An SVG as an image of its own document: its scripts do not run in the notebook."""
    return f'<img alt="flame graph" src="data:image/svg+xml;base64,{base64.b64encode(svg.encode()).decode()}">'
