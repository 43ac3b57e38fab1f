#!/usr/bin/env bash
# Instructions of one tracked 1080p frame (board already registered, camera still), on one thread: a figure that no
# other load on the machine disturbs. Runs the example `tracked` over 1 and over 3 frames and halves the difference,
# so that start, rendering and the cold registration cancel out.
#   scripts/callgrind.sh            the figure
#   scripts/callgrind.sh --profile  and the twenty dearest functions
set -euo pipefail
cd "$(dirname "$0")/.."

command -v valgrind >/dev/null || { echo "callgrind: valgrind is missing (apt-get install valgrind)" >&2; exit 1; }
cargo build --release --no-default-features --example tracked >&2
folder=target/callgrind
mkdir -p "$folder"

# Writes to target/callgrind/$1, prints the instructions of a run over $1 frames.
instructions() {
    RAYON_NUM_THREADS=1 valgrind --tool=callgrind --callgrind-out-file="$folder/frames$1.out" \
        target/release/examples/tracked --frames "$1" >"$folder/frames$1.log" 2>&1 ||
        { cat "$folder/frames$1.log" >&2; exit 1; }
    awk '/^(summary|totals):/ { print $2; exit }' "$folder/frames$1.out"
}

one=$(instructions 1)
three=$(instructions 3)
awk -v one="$one" -v three="$three" 'BEGIN {
    printf "tracked 1920x1080 frame: %.1f million instructions\n", (three - one) / 2e6
}'
if [ "${1:-}" = "--profile" ]; then
    callgrind_annotate "$folder/frames3.out" | sed -n '1,60p'
fi
