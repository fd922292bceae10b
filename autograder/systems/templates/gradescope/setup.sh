#!/usr/bin/env bash
# Gradescope runs this once, as root, when it builds the autograder's image.
set -euo pipefail
cd "$(dirname "$0")"
apt-get update -qq
apt-get install -y -qq bubblewrap python3 python3-pip python3-venv
if python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
    python3 -m venv ../venv
else
    # An older base image: uv brings a Python of its own.
    python3 -m pip install --quiet uv
    python3 -m uv venv --quiet --seed --python 3.12 ../venv
fi
# PyTorch without graphics cards saves gigabytes.
../venv/bin/python -m pip install --quiet --extra-index-url https://download.pytorch.org/whl/cpu \
    --constraint constraints.txt --editable '.[course]' --editable cellcage --editable @COURSE@
# For the log of the build. The machine that grades may be another one.
../venv/bin/python -m autograder doctor || true
