"""The two data files of `onesentence.evidence`: sections of the course and rows of the ledger."""

import json
import re
from collections import Counter
from importlib.resources import files
from typing import Any

import pytest

IDENTITIES = {
    "constructed",
    "mechanism",
    "trained",
    "measured",
    "recorded",
    "course",
    "literature",
    "pending",
}
CHECKS = {"value", "arithmetic", "property", "cited"}
SECTION_KEYS = ["id", "topic", "topic_en", "evidence"]
LEDGER_KEYS = [
    *("id", "section", "label", "what", "inputs", "expected", "tolerance", "relative"),
    *("identity", "check", "note", "printed", "erratum"),
]
OPTIONAL = {"relative", "note", "printed", "erratum"}
CHINESE = re.compile(r"[\u4e00-\u9fff]")


def read_text(name: str) -> str:
    return files("onesentence.evidence").joinpath("data", name).read_text(encoding="utf-8")


def read_rows(name: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = json.loads(read_text(name))
    return rows


def repeated(values: list[Any]) -> list[Any]:
    return [value for value, count in Counter(values).items() if count > 1]


def is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def tolerance_is_sound(tolerance: object, expected: object) -> bool:
    """Say whether a tolerance is a non-negative number, or a list of them as long as the expected list."""
    if isinstance(tolerance, list):
        return (
            isinstance(expected, list)
            and len(tolerance) == len(expected)
            and all(is_number(part) and part >= 0 for part in tolerance)
        )
    return isinstance(tolerance, (int, float)) and is_number(tolerance) and tolerance >= 0


def exact_leaves(value: object) -> bool:
    """Say whether strings or booleans are all that a value holds, at any depth."""
    if isinstance(value, list):
        return bool(value) and all(exact_leaves(part) for part in value)
    if isinstance(value, dict):
        return bool(value) and all(exact_leaves(part) for part in value.values())
    return isinstance(value, (str, bool))


@pytest.fixture(scope="module")
def sections() -> list[dict[str, Any]]:
    return read_rows("sections.json")


@pytest.fixture(scope="module")
def ledger() -> list[dict[str, Any]]:
    return read_rows("ledger.json")


@pytest.mark.parametrize(("name", "count"), [("sections.json", 129), ("ledger.json", 206)])
def test_file_has_one_row_per_line(name: str, count: int) -> None:
    text = read_text(name)
    lines = text.split("\n")
    assert (lines[0], lines[-2], lines[-1]) == ("[", "]", "")
    rows = [json.loads(line.removesuffix(",")) for line in lines[1:-2]]
    assert rows == json.loads(text)
    assert len(rows) == count
    assert "\\u" not in text


@pytest.mark.parametrize("name", ["sections.json", "ledger.json"])
def test_file_ids_are_unique(name: str) -> None:
    assert repeated([row["id"] for row in read_rows(name)]) == []


def test_sections_have_their_keys(sections: list[dict[str, Any]]) -> None:
    assert [row["id"] for row in sections if list(row) != SECTION_KEYS] == []


def test_sections_are_in_reading_order(sections: list[dict[str, Any]]) -> None:
    numbers = [tuple(int(part) for part in row["id"].split(".")) for row in sections]
    assert numbers == sorted(numbers)
    assert numbers[0] == (1, 1)
    assert {chapter for chapter, _ in numbers} == set(range(1, 9))


def test_section_topics_are_short_chinese_and_unique(sections: list[dict[str, Any]]) -> None:
    topics = [row["topic"] for row in sections]
    assert [topic for topic in topics if not (6 <= len(topic) <= 22 and CHINESE.search(topic))] == []
    assert repeated(topics) == []


def test_section_topics_in_english_hold_no_chinese(sections: list[dict[str, Any]]) -> None:
    assert [row["id"] for row in sections if not row["topic_en"] or CHINESE.search(row["topic_en"])] == []


def test_section_evidence_names_identities(sections: list[dict[str, Any]]) -> None:
    wrong = [row["id"] for row in sections if not row["evidence"] or set(row["evidence"]) - IDENTITIES]
    assert wrong == []
    assert [row["id"] for row in sections if repeated(row["evidence"])] == []


def test_ledger_rows_have_their_keys(ledger: list[dict[str, Any]]) -> None:
    for row in ledger:
        wanted = [key for key in LEDGER_KEYS if key in row or key not in OPTIONAL]
        assert list(row) == wanted, row["id"]


def test_ledger_has_one_relative_tolerance(ledger: list[dict[str, Any]]) -> None:
    # A Monte Carlo variance: its spread grows with the variance itself.
    assert [(row["id"], row["relative"]) for row in ledger if "relative" in row] == [
        ("4.4-dot-variance", True)
    ]


def test_ledger_sections_exist(ledger: list[dict[str, Any]], sections: list[dict[str, Any]]) -> None:
    known = {row["id"] for row in sections}
    assert [row["id"] for row in ledger if row["section"] not in known] == []


def test_ledger_identities_and_checks_are_known(ledger: list[dict[str, Any]]) -> None:
    assert [row["id"] for row in ledger if row["identity"] not in IDENTITIES] == []
    assert Counter(row["check"] for row in ledger).keys() == CHECKS


def test_ledger_tolerances_fit_what_is_expected(ledger: list[dict[str, Any]]) -> None:
    wrong = [row["id"] for row in ledger if not tolerance_is_sound(row["tolerance"], row["expected"])]
    assert wrong == []


def test_ledger_words_and_truths_have_no_tolerance(ledger: list[dict[str, Any]]) -> None:
    wrong = [row["id"] for row in ledger if exact_leaves(row["expected"]) and row["tolerance"] != 0]
    assert wrong == []


def test_ledger_properties_expect_truths(ledger: list[dict[str, Any]]) -> None:
    for row in ledger:
        if row["check"] == "property":
            expected = row["expected"] if isinstance(row["expected"], list) else [row["expected"]]
            assert expected, row["id"]
            assert all(isinstance(part, bool) for part in expected), row["id"]


def test_ledger_labels_are_short_and_chinese(ledger: list[dict[str, Any]]) -> None:
    wrong = [row["id"] for row in ledger if len(row["label"]) > 40 or not CHINESE.search(row["label"])]
    assert wrong == []


def test_ledger_labels_hold_no_audited_figure(ledger: list[dict[str, Any]]) -> None:
    # A label is printed as prose, where decimals and integers from 1000 up must come from a computed value.
    assert [row["id"] for row in ledger if re.search(r"\.\d|\d{4}", row["label"])] == []


def test_ledger_labels_differ_within_a_section(ledger: list[dict[str, Any]]) -> None:
    assert repeated([(row["section"], row["label"]) for row in ledger]) == []


def test_ledger_misprints_are_told_in_full(ledger: list[dict[str, Any]]) -> None:
    misprints = [row for row in ledger if "printed" in row or "erratum" in row]
    assert misprints
    for row in misprints:
        assert {"printed", "erratum"} <= row.keys(), row["id"]
        assert row["check"] == "value", row["id"]
        assert abs(row["printed"] - row["expected"]) > row["tolerance"], row["id"]
        assert CHINESE.search(row["erratum"]), row["id"]
        assert row["erratum"].index("。") == len(row["erratum"]) - 1, row["id"]


def test_ledger_holds_the_misprinted_loss(ledger: list[dict[str, Any]]) -> None:
    row = next(row for row in ledger if row["id"] == "3.1-loss")
    assert (row["printed"], row["expected"]) == (0.352839, 0.352840)
    assert abs(row["expected"] - 0.3528397789656021) <= row["tolerance"]
