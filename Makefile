# crokeye: build, count, test, measure. `make help` lists the targets.

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help

OVERLAYS := target/overlays
MINUTES ?= 15

.PHONY: help setup setup-test run count test lint bench audit-bench live-bench fuzz callgrind memory scaling soak bench load deb deb-test

help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /  make \1\t/' | expand -t 20

setup: ## install what is missing to build (Debian, Ubuntu; prints the command elsewhere)
	@scripts/setup.sh

setup-test:
	@scripts/setup.sh --test

run: setup ## build and start the service: the first camera that works, else a sample round; ARGS="--port 9000"
	cargo build --release
	target/release/crokeye serve $(ARGS)

count: setup ## build, count the pictures in samples/, write overlays to target/overlays
	cargo build --release
	@mkdir -p $(OVERLAYS)
	@status=0; target/release/crokeye count --overlay $(OVERLAYS) samples/*.jpg || status=$$?; \
	if [ $$status -gt 1 ]; then exit $$status; fi
	@echo "Overlays: $(CURDIR)/$(OVERLAYS)/ (one picture for each photo)"

lint: ## formatting and clippy, with and without OpenCV
	cargo fmt --check
	cargo clippy --all-targets -- -D warnings
	cargo clippy --all-targets --no-default-features -- -D warnings

# Tests in modules named `slow` look at whole pictures; what they measure does not depend on OpenCV.
test: setup-test lint ## lint, then all tests, with and without OpenCV
	CROKEYE_TEST_BROKER=1 CROKEYE_TEST_SCHEMATHESIS=1 CROKEYE_TEST_BROWSER=1 CROKEYE_TEST_CAMERA=1 cargo test
	cargo test --no-default-features -- --skip slow::

audit-bench: ## an audit of 1,000 generated photos: one core, two cores, decoding alone, memory
	CROKEYE_PHOTOS=1000 cargo bench --bench audit

live-bench: ## a camera of 1280 x 720 px at 30 frames a second: share of a core, time from rest to event
	cargo bench --bench live

load: setup ## the service under load: 500 WebSocket clients, 50 photos at once, a camera of 720p at 30 frames a second
	cargo bench --bench load

deb: setup ## build the Debian package into target/debian/
	@scripts/deb.sh

deb-test: setup ## build it, install, start, stop and purge it on this machine (root)
	@scripts/deb.sh --test

bench: ## run the benches and print their table
	cargo bench --bench pipeline
	@scripts/bench_table.sh

fuzz: ## feed mutilated pictures to the counter: make fuzz MINUTES=15
	cargo run --release --example fuzz -- --minutes $(MINUTES)

callgrind: ## instructions of one tracked 1080p frame
	@scripts/callgrind.sh

memory: ## peak memory of one 12-megapixel photo and of a batch
	@scripts/memory.sh

scaling: ## a folder on one core and on two
	@scripts/scaling.sh

soak: ## a simulated hour of live counting: CPU time of a frame, delay, memory
	@scripts/soak.sh
