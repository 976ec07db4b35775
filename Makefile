# What a contributor and CI run. `make test` is the whole suite.

.PHONY: build test end-to-end working hubs lint generated versions pages deny bench

build:
	cargo build --release

test: lint generated
	cargo test --workspace --no-run
	$(MAKE) -j2 end-to-end working
	$(MAKE) hubs
	$(MAKE) -j3 versions
	$(MAKE) pages

# The tests by what they need: a hub for minutes, the machine for themselves, or some time.
TESTS := $(patsubst tests/%.rs,%,$(patsubst %/main.rs,%.rs,$(wildcard tests/*.rs tests/*/main.rs)))
HUBS := native $(notdir $(basename $(wildcard tests/hub/tests/*.rs)))
WORKING := $(filter-out e2e $(HUBS),$(TESTS))

# They wait more than they work: more at once than there are processors.
end-to-end:
	RUST_TEST_THREADS=$${RUST_TEST_THREADS:-12} cargo test --workspace --test e2e

# These work, and step back where others want to.
working:
	nice -n 19 cargo test --workspace --lib --bins $(WORKING:%=--test %)
	nice -n 19 cargo test --workspace --doc

hubs:
	RUST_TEST_THREADS=$${RUST_TEST_THREADS:-8} cargo test --workspace $(HUBS:%=--test %)

lint:
	# Not `cargo fmt`: it does not see the modules that the list of rules declares.
	rustfmt --check --edition 2024 $$(git ls-files '*.rs')
	cargo clippy --workspace --all-targets -- -D warnings

generated:
	cargo xtask gen --check
	cargo xtask schemas

# A release on other hubs: what KubeFleet served before, and what it published where that is at hand.
# They wait more than they work, too: `make -j3 versions`.
VERSIONS := old alpha $(filter-out README%,$(notdir $(wildcard ../shared/crds/*)))
versions: $(VERSIONS:%=version-%)

version-%:
	FLEET_STAGE_CRDS=$* cargo test --workspace --test e2e versions::

# What `-o html` writes, in a real browser. Says so where there is none.
pages:
	cargo build --workspace
	tests/browser/run

deny:
	cargo deny check

bench:
	cargo xtask bench
