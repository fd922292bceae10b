#!/usr/bin/env bash
# Gradescope runs this once, as root. Marking a submission here needs only Python, which the images have.
set -euo pipefail
command -v python3 >/dev/null || { apt-get update -qq && apt-get install -y -qq python3; }
