#!/usr/bin/env bash
# How much faster a folder is counted on two cores than on one: pairs of runs, the median of their ratios.
#   scripts/scaling.sh [FOLDER]   default samples/, each picture taken four times
set -euo pipefail
cd "$(dirname "$0")/.."

cargo build --release >&2
python3 - "${1:-samples}" <<'PY'
import glob, os, statistics, subprocess, sys, time
files = sorted(p for p in glob.glob(sys.argv[1] + "/*") if p.lower().endswith((".jpg", ".jpeg", ".png", ".webp"))) * 4
cores = len(os.sched_getaffinity(0))
if cores < 2:
    sys.exit("scaling: only one core here")

def seconds(threads):
    start = time.time()
    run = subprocess.run(["target/release/crokeye", "count", "--json", "--jobs", str(threads), *files], stdout=subprocess.DEVNULL,
                         env={**os.environ, "RAYON_NUM_THREADS": str(threads)})
    if run.returncode not in (0, 1):
        sys.exit(f"crokeye ended with status {run.returncode}")
    return time.time() - start

seconds(2)
pairs = [(seconds(1), seconds(2)) for _ in range(5)]
one, two = (statistics.median(times) for times in zip(*pairs))
print(f"{len(files)} pictures: {one:.2f} s on one core, {two:.2f} s on two:"
      f" {statistics.median(a / b for a, b in pairs):.2f} times as fast")
PY
