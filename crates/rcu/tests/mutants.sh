#!/bin/sh
# Removes the crate's protections one at a time and checks that a model or a stress test then fails.
# Usage, from anywhere in the repository: crates/rcu/tests/mutants.sh [MUTANT...]
# Takes about fifteen seconds a mutant. A mutant that survives makes the exit status 1.
cd "$(dirname "$0")/../../.." || exit 2
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-target}/rcu-mutants"
export CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16

# On loom: orderings and fences. On the machine: what even a strongly ordered machine shows.
models="quiescent_acquire report_release online_fence start_fence join_fence join_write
    scan_acquire over_release claim_acquire push_release read_acquire publish_release
    wait_before_free local_wait ignore_readers"
stress="wait_before_free ignore_readers"

survivors=0
judge() { # kind, mutant, command...
    kind=$1 mutant=$2
    shift 2
    if ! RUSTFLAGS="$RUSTFLAGS" cargo build -q -p clique-rcu --release --tests; then
        echo "$kind $mutant: does not build"
        exit 2
    elif RUSTFLAGS="$RUSTFLAGS" timeout 300 "$@" >/dev/null 2>&1; then
        echo "$kind $mutant: SURVIVED"
        survivors=$((survivors + 1))
    else
        echo "$kind $mutant: caught"
    fi
}

for mutant in ${*:-$models}; do
    RUSTFLAGS="--cfg loom --cfg rcu_mutant=\"$mutant\""
    judge model "$mutant" cargo test -q -p clique-rcu --release --test 'loom_*'
done
for mutant in ${*:-$stress}; do
    RUSTFLAGS="--cfg rcu_mutant=\"$mutant\""
    case " $stress " in
    *" $mutant "*) judge stress "$mutant" cargo test -q -p clique-rcu --release --test torture ;;
    esac
done
exit $((survivors > 0))
