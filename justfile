# The three tiers of tests, and the tools that measure. `just` without a name lists them.

default:
    @just --list --unsorted

# Formatting, lints and unit tests: under a minute when warm
check:
    cargo fmt --all --check
    scripts/figures --check
    cargo clippy --workspace --all-targets --locked -- -D warnings
    cargo test --workspace --locked --lib

# All tests but those that need a browser or real clients; needs no root
test: check
    # Every integration test but `browser`.
    cargo test --workspace --locked --bins --test '[!b]*'
    cargo test --workspace --locked --doc

# Everything that must hold before a change lands, as CI runs it; needs root
full:
    scripts/test

# Size and structure of the crates: functions, files, folders, import cycles
figures:
    scripts/figures

# What the proxy costs, beside nginx and a bare proxy
bench:
    scripts/bench

# The workflows of GitHub Actions: their form and their safety
lint-workflows:
    scripts/lint-workflows

# Licences, banned crates and sources of all dependencies
deny:
    scripts/deny

# Each fuzz target for this many seconds
fuzz seconds="60":
    scripts/fuzz all {{ seconds }}

# Mixed traffic for this many seconds; fails if memory, file descriptors or latency grow
soak seconds="600":
    scripts/soak {{ seconds }}

# kill -9 of replicas and of their engine, this many times
cluster-faults rounds="300":
    scripts/cluster-faults {{ rounds }}
