#!/usr/bin/env bash
# Gradescope runs this once, as root. What marks a submission here needs Python alone, which its images have.
set -euo pipefail
command -v python3 >/dev/null || { apt-get update -qq && apt-get install -y -qq python3; }
