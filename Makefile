# What a contributor and CI run. `make test` is the whole suite.

.PHONY: build test lint generated deny bench

build:
	cargo build --release

test: lint generated
	# The end-to-end tests wait more than they work.
	RUST_TEST_THREADS=$${RUST_TEST_THREADS:-4} cargo test --workspace

lint:
	# Not `cargo fmt`: it does not see the modules that the list of rules declares.
	rustfmt --check --edition 2024 $$(git ls-files '*.rs')
	cargo clippy --workspace --all-targets -- -D warnings

generated:
	cargo xtask gen --check

deny:
	cargo deny check

bench:
	cargo xtask bench
