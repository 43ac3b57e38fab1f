#!/bin/sh
# Writes the first corpus of the import target: each seed behind the byte that chooses its reader (order of Origin::ALL).
set -eu
cd "$(dirname "$0")/.."
mkdir -p fuzz/corpus/import
for seed in tests/exchange/seeds/*; do
    case "$seed" in
        *.cmn.json) byte='\000' ;;
        *.croki.json) byte='\001' ;;
        *.scorekinole.txt) byte='\002' ;;
        *.reference.xlsx) byte='\003' ;;
        *.tourney.json) byte='\004' ;;
        *) byte='\005' ;;
    esac
    { printf "$byte"; cat "$seed"; } > "fuzz/corpus/import/$(basename "$seed")"
done
