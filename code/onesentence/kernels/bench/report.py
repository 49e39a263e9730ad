"""A record as text: a table for people, the same figures that the JSON keeps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from onesentence.evidence.records import Record
from onesentence.kernels.bench.archive import about, rows

HEAD = ("case", "backend", "ms", "quartiles", "rate", "of ceiling", "error/allowed", "peak MB")


def table(head: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    """Return lines as aligned columns.

    Example:
        >>> print(table(("a", "bb"), (("xyz", "1"), ("", "22"))))
        a    bb
        xyz  1
             22
    """
    widths = [max(len(line[i]) for line in (head, *lines)) for i in range(len(head))]
    return "\n".join(
        "  ".join(f"{cell:{width}}" for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in (head, *lines)
    )


def _line(row: dict[str, Any]) -> tuple[str, ...]:
    if row["status"] != "timed":
        said = f"{row['status']}: {row['reason']}"
        return (row["name"], row["backend"], "-", said if len(said) < 60 else said[:57] + "…", "", "", "", "")
    unit = "GB/s" if row["case"]["kind"] == "decode" else "TFLOP/s"
    rate = row["rate"] / (1e9 if unit == "GB/s" else 1e12)
    low, high = (1e3 * seconds for seconds in row["quartiles"])
    worst = max(row["errors"].values(), key=lambda pair: pair[0] / pair[1], default=None)
    return (
        row["name"],
        row["backend"],
        f"{1e3 * row['median']:.3f}",
        f"{low:.3f} to {high:.3f}",
        f"{rate:.3f} {unit}" if rate < 10 else f"{rate:.0f} {unit}",
        f"{row['share']:.0%}" if row["share"] else "-",
        f"{worst[0]:.1e}/{worst[1]:.1e}" if worst else "-",
        f"{row['peak_bytes'] / 1e6:.0f}" if row["peak_bytes"] is not None else "-",
    )


def text(record: Record) -> str:
    """Return a record as text.

    Args:
        record: as `run` gives it.
    """
    facts = about(record)
    versions = ", ".join(f"{name} {value}" for name, value in record.versions.items())
    lines = [
        f"{facts['suite']}: {facts['device']}; threads of the host: {facts['threads']}",
        f"{facts['date']}, {record.seconds:.0f} s, seed {record.seeds[0]}; {versions}",
        "",
    ]
    for one in record.metrics["ceilings"][0]:
        if one["what"] == "copy":
            lines.append(
                f"copy of {one['size'] / 2**20:.0f} MiB: {one['rate'] / 1e9:.1f} GB/s read and written"
            )
        else:
            lines.append(f"product {one['size']}^3 {one['dtype']}: {one['rate'] / 1e12:.3f} TFLOP/s")
    lines += ["", table(HEAD, [_line(row) for row in rows(record)])]
    if record.metrics["memory"][0]:
        found = [
            (
                one["name"],
                one["backend"],
                one["reason"] if one["bytes"] is None else f"{one['bytes'] / 1e6:.1f}",
            )
            for one in record.metrics["memory"][0]
        ]
        lines += ["", table(("peak beyond the inputs", "backend", "MB"), found)]
    lines += ["", *(f"absent: {one['backend']} {one['reason']}" for one in record.metrics["absent"][0])]
    lines += [f"FAULTY: {reason}" for reason in record.metrics["faulty"][0]]
    if not facts["complete"]:
        lines.append(f"NOT COMPLETE: {facts['stopped']}")
    return "\n".join(lines).rstrip()
