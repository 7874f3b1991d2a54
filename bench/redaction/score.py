"""Scores the rules against secrets: how many planted ones are hidden, and what is found in ordinary text.

    bench/redaction/score.py [--json] [--text FOLDER ...] [--examples N] [--seed S]

Prints Markdown, progress to stderr. The same for the same seed and folders; contains and prints no secret.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

import alarms
import recall
import second_opinion
from page import Score, as_json, as_markdown


def main(arguments: list[str]) -> int:
    """Measure and print; returns the exit code."""
    parser = argparse.ArgumentParser(
        prog="score.py", description="recall and false alarms of the rules against secrets"
    )
    parser.add_argument("--json", action="store_true", help="print JSON: every class, context, rule and finding")
    parser.add_argument(
        "--text", nargs="+", type=Path, metavar="FOLDER", help="read these folders instead of the default ones"
    )
    parser.add_argument("--examples", type=int, default=20, metavar="N", help="secrets per rule (20)")
    parser.add_argument("--seed", type=int, default=0, metavar="S", help="seed of the made-up secrets (0)")
    asked = parser.parse_args(arguments)
    missing = [str(path) for path in asked.text or () if not path.is_dir()]
    if missing or asked.examples < 1 or asked.seed < 0:
        parser.error(f"no such folder: {', '.join(missing)}" if missing else "--examples from 1, --seed from 0")
    folders = alarms.named_folders(asked.text) if asked.text else alarms.default_folders()
    score = Score(
        asked.examples,
        asked.seed,
        recall.measure(asked.examples, asked.seed),
        second_opinion.measure(asked.examples, asked.seed),
        alarms.measure(folders),
    )
    print(json.dumps(as_json(score), indent=1) if asked.json else as_markdown(score))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
