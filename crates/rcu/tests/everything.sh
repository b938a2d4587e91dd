#!/bin/sh
# All evidence for crates/rcu and crates/rcu-flavours, of which the continuous checks run a sample: tests and stress,
# models, litmus tests, every mutant, ThreadSanitizer, and the algorithm in spin.
#
# usage, from anywhere: crates/rcu/tests/everything.sh
#
# An hour or less on two processors. Needs spin and a C compiler for the last part. Stops at the first failure.
set -e
cd "$(dirname "$0")/../../.."

echo "== tests, and the stress twenty times over"
cargo test --locked -p clique-rcu -p clique-rcu-flavours
for round in $(seq 20); do
    echo "-- round $round"
    cargo test --locked -q -p clique-rcu -p clique-rcu-flavours --test torture --test flavours --test memory --test structures
done

echo "== models and litmus tests"
RUSTFLAGS="--cfg loom" CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$PWD/target}/loom" \
    CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16 \
    cargo test --locked -p clique-rcu -p clique-rcu-flavours --release --test 'loom_*'

echo "== mutants"
crates/rcu/tests/mutants.sh

echo "== ThreadSanitizer"
crates/rcu/tests/thread-sanitizer.sh

echo "== the algorithm in spin"
docs/src/design/rcu-grace-periods.sh

echo "== all good"
