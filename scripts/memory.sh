#!/usr/bin/env bash
# Peak memory of counting one 12-megapixel photo, and of a batch of them.
#   scripts/memory.sh [PHOTOS]   size of the batch (default 40)
# Needs python3, which asks the system for the peak of the child process.
set -euo pipefail
cd "$(dirname "$0")/.."

photos=${1:-40}
folder=target/photos12
cargo build --release --no-default-features --example synthetic >&2
cargo build --release >&2
mkdir -p "$folder"
[ -e "$folder/synthetic_0007.jpg" ] ||
    target/release/examples/synthetic --out "$folder" --count 8 --size 4000x3000 >&2

python3 - "$folder" "$photos" <<'PY'
import glob, itertools, os, subprocess, sys, time
folder, photos = sys.argv[1], int(sys.argv[2])
files = sorted(glob.glob(folder + "/*.jpg"))

def peak(paths):
    start = time.time()
    child = subprocess.Popen(["target/release/crokeye", "count", "--json", *paths], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode not in (0, 1):
        sys.exit(f"crokeye ended with status {child.returncode}")
    return usage.ru_maxrss / 1024, time.time() - start

one, _ = peak(files[:1])
many, seconds = peak(list(itertools.islice(itertools.cycle(files), photos)))
threads = len(os.sched_getaffinity(0))
print(f"one 12-megapixel photo: {one:.0f} MiB")
print(f"a batch of {photos} on {threads} threads: {many:.0f} MiB ({many / threads:.0f} a thread), {seconds:.1f} s")
PY
