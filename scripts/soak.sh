#!/usr/bin/env bash
# A simulated evening through the live path: CPU time of a frame, time from rest to judgement, memory.
#   scripts/soak.sh [MINUTES]   (default 60: takes a quarter of that)
set -euo pipefail
cd "$(dirname "$0")/.."
cargo run --release --example soak -- --minutes "${1:-60}"
