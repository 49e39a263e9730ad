#!/bin/sh
# Make .venv from the lock, or bring it up to date with it. Quick when there is nothing to do.
set -eu

mark=.venv/.installed
wanted="$PWD $(cat requirements.txt pyproject.toml | cksum)"
if [ -x .venv/bin/python ] && [ "$(cat "$mark" 2>/dev/null)" = "$wanted" ]; then
    exit 0
fi

usable() {
    "$1" -c 'import sys, venv, ensurepip; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' 2>/dev/null
}

python=
for candidate in ${PYTHON:-python3 python3.13 python3.12 python3.11}; do
    if usable "$candidate"; then
        python=$candidate
        break
    fi
done
if [ -z "$python" ]; then
    echo "No Python 3.11, 3.12 or 3.13 with venv found (looked for: ${PYTHON:-python3 python3.13 python3.12 python3.11})." >&2
    echo "Install one (Debian and Ubuntu: apt install python3 python3-venv), or name it: make book PYTHON=/path/to/python3.12" >&2
    exit 1
fi

started=$(date +%s)
# An environment made in another folder, or half made, cannot be trusted: its scripts name the old place.
if [ ! -x .venv/bin/python ] || [ "$(cut -d' ' -f1 "$mark" 2>/dev/null)" != "$PWD" ]; then
    echo "environment: making .venv with $("$python" --version)"
    rm -rf .venv
    "$python" -m venv .venv
fi
rm -f "$mark"
echo "environment: installing the lock (a few minutes the first time)"
# The project itself by its own line and without its ranges: where they contradict the lock, until `make lock` has
# run, pip would search for hours.
sed '/^-e /d' requirements.txt > .venv/lock.txt
.venv/bin/python -m pip install -qq --disable-pip-version-check -r .venv/lock.txt
.venv/bin/python -m pip install -qq --disable-pip-version-check --no-deps -e .
printf '%s\n' "$wanted" > "$mark"
echo "environment: ready after $(($(date +%s) - started)) s"
