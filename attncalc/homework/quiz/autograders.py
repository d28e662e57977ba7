"""The zip of an autograder for Gradescope: it installs attncalc there, and marks what a student has handed in."""

from __future__ import annotations

from importlib.metadata import version

from attncalc.homework.quiz.platforms import FORMATS, package

GRADESCOPE = "gradescope"
EXPORTS = (*FORMATS, GRADESCOPE)
"""The formats of exports: for platforms that mark by fixed answers, and for Gradescope, which runs our marker."""
FILE = f"{GRADESCOPE}.zip"

SETUP = """\
#!/usr/bin/env bash
# Gradescope runs this once, where it builds the machine: attncalc is put into /opt/attncalc, or into a folder that is
# named. A wheel that lies beside this file serves as well as one of an index.
set -euo pipefail
python=python3
if ! python3 -c 'import ensurepip, sys; sys.exit(sys.version_info < (3, 11))'; then
    apt-get update
    apt-get install -y python3.11 python3.11-venv
    python=python3.11
fi
"$python" -m venv "${{1:-/opt/attncalc}}"
"${{1:-/opt/attncalc}}/bin/python" -m pip install --find-links "$(dirname "${{BASH_SOURCE[0]}}")" attncalc=={version}
"""
RUN = """\
#!/usr/bin/env bash
# Gradescope runs this for each submission, which it has put into /autograder; another such folder may be named.
# Where a policy.toml lies in this zip, it says what answers earn.
set -uo pipefail
at="${{1:-/autograder}}"
results="$at/results/results.json"
how=(--report gradescope --hints question --visibility {visibility} -o "$results")
[ -f "$at/submission_metadata.json" ] && how+=(--student "@$at/submission_metadata.json")
[ -f "$at/source/policy.toml" ] && how+=(--policy "$at/source/policy.toml")
mkdir -p "$at/results"
rm -f "$results"
PATH="/opt/attncalc/bin:$PATH" attncalc grade "$at/source/{key}" "$at/submission" "${{how[@]}}"
test -s "$results"  # a wrong answer is no fault of this program's
"""


def autograder(key: str, content: str, visibility: str) -> bytes:
    """The zip, which holds the key and is never shown to students; `visibility` says when they see results."""
    programs = {
        "setup.sh": SETUP.format(version=version("attncalc")),
        "run_autograder": RUN.format(key=key, visibility=visibility),
    }
    return package({**programs, key: content}, programs)
