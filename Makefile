# What a contributor and CI run. `make test` is the whole suite.

.PHONY: build test lint generated versions pages deny bench

build:
	cargo build --release

test: lint generated
	# The end-to-end tests wait more than they work.
	RUST_TEST_THREADS=$${RUST_TEST_THREADS:-6} cargo test --workspace
	$(MAKE) versions
	$(MAKE) pages

lint:
	# Not `cargo fmt`: it does not see the modules that the list of rules declares.
	rustfmt --check --edition 2024 $$(git ls-files '*.rs')
	cargo clippy --workspace --all-targets -- -D warnings

generated:
	cargo xtask gen --check
	cargo xtask schemas

# A release on other hubs: what KubeFleet served before, and what it published where that is at hand.
versions:
	set -e; for crds in old alpha $$(ls ../shared/crds 2>/dev/null | grep -v README); do \
	  FLEET_STAGE_CRDS=$$crds cargo test --test e2e versions::; \
	done

# What `-o html` writes, in a real browser. Says so where there is none.
pages:
	cargo build
	tests/browser/run

deny:
	cargo deny check

bench:
	cargo xtask bench
