# What a contributor and CI run. `make test` is the whole suite.

.PHONY: build test lint generated deny bench

build:
	cargo build --release

test: lint generated
	cargo test --workspace

lint:
	cargo fmt --all --check
	cargo clippy --workspace --all-targets -- -D warnings

generated:
	cargo xtask gen --check

deny:
	cargo deny check

bench:
	cargo xtask bench
