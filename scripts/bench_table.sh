#!/usr/bin/env bash
# The table of the last `cargo bench`: one line a bench, median and its 95 % interval.
set -euo pipefail
cd "$(dirname "$0")/.."

command -v python3 >/dev/null || { echo "bench: python3 is missing, no table" >&2; exit 0; }
python3 - <<'PY'
import glob, json, os
rows = []
for path in sorted(glob.glob("target/criterion/**/new/estimates.json", recursive=True)):
    name = json.load(open(os.path.join(os.path.dirname(path), "benchmark.json")))["full_id"]
    median = json.load(open(path))["median"]
    interval = median["confidence_interval"]
    rows.append((name, median["point_estimate"], interval["lower_bound"], interval["upper_bound"]))
if not rows:
    raise SystemExit("no bench has run")
width = max(len(name) for name, *_ in rows)
print(f"\n{'bench':<{width}}   median ms   95 % interval")
for name, median, low, high in rows:
    print(f"{name:<{width}}   {median / 1e6:9.2f}   {low / 1e6:.2f} to {high / 1e6:.2f}")
PY
