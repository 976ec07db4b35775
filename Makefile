# What a contributor and CI run. `make test` is the whole suite.

.PHONY: build test lint generated deny bench

build:
	cargo build --release

test: lint generated
	cargo test --workspace

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
