# What a contributor and CI run. `make check` is for every change, `make test` is the whole suite.

.PHONY: build check test lint generated tests tests-native tests-others versions pages deny bench attack

build:
	cargo build --locked --release

# While working: what computes. The end-to-end tests, shells and attacks are left to `make test`.
check:
	cargo test --locked --lib --test suite

# Goes on after a failure, and says at the end what failed.
test:
	tests/all lint generated tests versions pages

# Shells and terminals are waited for: their tests run beside the others.
tests:
	cargo test --locked --workspace --no-run
	+$(MAKE) --keep-going --jobs=2 tests-native tests-others

tests-native:
	RUST_TEST_THREADS=$${RUST_TEST_THREADS:-8} cargo test --locked --no-fail-fast --test native

tests-others:
	# The end-to-end tests wait more than they work, too.
	RUST_TEST_THREADS=$${RUST_TEST_THREADS:-8} cargo test --locked --workspace --no-fail-fast \
		--lib --bins --test suite --test e2e --test attack

lint:
	# Not `cargo fmt`: it does not see the modules that the list of rules declares.
	rustfmt --check --edition 2024 $$(git ls-files '*.rs')
	cargo clippy --locked --workspace --all-targets -- -D warnings

generated:
	cargo xtask gen --check
	cargo xtask schemas

# A release on other hubs: what KubeFleet served before, and what it published where that is at hand.
# They wait more than they work, too.
VERSIONS := old alpha $(filter-out README%,$(notdir $(wildcard ../shared/crds/*)))
versions:
	$(MAKE) --keep-going --jobs=3 $(VERSIONS:%=version-%)

version-%:
	FLEET_STAGE_CRDS=$* cargo test --locked --test e2e versions::

# What `-o html` writes, in a real browser. Says so where there is none.
pages:
	cargo test --locked --workspace --no-run
	tests/browser/run

# What tests/attack tries in seconds as a part of `make test`, tried for minutes.
attack:
	FLEET_STAGE_ATTACK=long cargo test --locked --test attack

deny:
	cargo deny --locked check

bench:
	cargo xtask bench
