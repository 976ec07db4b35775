# What a contributor and CI run. `make test` is the whole suite.

.PHONY: build test lint generated pages deny bench

build:
	cargo build --release

test: lint generated
	# The end-to-end tests wait more than they work.
	RUST_TEST_THREADS=$${RUST_TEST_THREADS:-6} cargo test --workspace
	$(MAKE) pages

lint:
	# Not `cargo fmt`: it does not see the modules that the list of rules declares.
	rustfmt --check --edition 2024 $$(git ls-files '*.rs')
	cargo clippy --workspace --all-targets -- -D warnings

generated:
	cargo xtask gen --check
	cargo xtask schemas

# What `-o html` writes, in a real browser. Says so where there is none.
pages:
	cargo build
	tests/browser/run

deny:
	cargo deny check

bench:
	cargo xtask bench
