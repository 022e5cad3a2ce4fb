#!/bin/sh
# Makes an environment for each trainer that tests/adapters runs, and prints what has to be set so that it is found:
#   eval "$(scripts/trainers.sh)"               # all of them: some gigabytes
#   eval "$(scripts/trainers.sh verl trl)"      # these
set -eu

locks="$(dirname "$0")/../tests/adapters/locks"
folder="$(cd "$(dirname "$0")/.." && pwd)/build/trainers"
[ $# -gt 0 ] || set -- $(cd "$locks" && ls | sed 's/\.txt$//')

for name in "$@"; do
    lock="$locks/$name.txt"
    [ -f "$lock" ] || { echo "proctor: no trainer is called $name; there are: $(ls "$locks" | sed 's/\.txt$//' | tr '\n' ' ')" >&2; exit 1; }
    python="$folder/$name/bin/python"
    if ! cmp -s "$lock" "$folder/$name/.made"; then
        echo "proctor: making $folder/$name" >&2
        "${PYTHON:-python3}" -m venv "$folder/$name"
        # by itself, for where its CPU build comes from differs: see the Makefile
        if grep -q '^# needs torch' "$lock"; then
            "$python" -m pip install --quiet --disable-pip-version-check torch==2.13.0 >&2
        fi
        # without dependencies, which would bring what only a GPU needs: all that is needed is listed
        "$python" -m pip install --quiet --disable-pip-version-check --no-deps -r "$lock" >&2
        cp "$lock" "$folder/$name/.made"
    fi
    echo "export PROCTOR_TEST_$(echo "$name" | tr 'a-z-' 'A-Z_')_PYTHON=$python"
done
