"""Nested settings become dotted names with their values as text."""

from __future__ import annotations

from assay.report.facts import facts


def test_nested_settings_become_dotted_names() -> None:
    settings = {"seed": 7, "text": {"name": "help", "languages": ["en", "pl"]}, "share": 0.5, "none": None, "empty": []}
    assert facts(settings) == {
        "seed": "7",
        "text.name": "help",
        "text.languages": "en, pl",
        "share": "0.5",
        "none": "None",
        "empty": "",
    }
