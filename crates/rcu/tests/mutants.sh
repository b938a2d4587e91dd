#!/bin/sh
# Breaks rcu or rcu-flavours in one way at a time and checks that the test that should notice does.
#
# usage, from anywhere: crates/rcu/tests/mutants.sh [--sample | MUTANT...]
#
# The mutants are listed in tables at the head of the tests that kill them (tests/*.rs of both): name, what is broken,
# the test. This script reads those tables, so they cannot be wrong for long. A build for a mutant differs by a `cfg`,
# which the compiler is given for this workspace's crates only. About ten seconds a mutant where a processor is idle; `--sample` runs three.
# The exit status is 1 if a mutant survives, or if its test comes to no end: that may be a slow machine.
cd "$(dirname "$0")/../../.." || exit 2
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$PWD/target}/loom"
export CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16
mkdir -p "$CARGO_TARGET_DIR/mutants" || exit 2
log=$CARGO_TARGET_DIR/mutants/log

if [ "$1" = --sample ]; then
    set -- online_fence one_step_early one_generation_early
fi

# lines of: file, mutant, test
list() {
    sed -n 's,^//! | `\([a-z_]*\)` | .* | `\([a-z_:]*\)` |$,\1 \2,p' "$1"
}

wanted() { # mutant, names...
    mutant=$1
    shift
    [ $# = 0 ] && return 0
    for name; do [ "$name" = "$mutant" ] && return 0; done
    return 1
}

# Runs the command of one mutant; says how the test took it.
verdict() {
    RUSTC_WORKSPACE_WRAPPER=$wrapper cargo build -q -p "$package" --release --test "$target" >"$log" 2>&1 ||
        { echo "DOES NOT BUILD"; return; }
    RUSTC_WORKSPACE_WRAPPER=$wrapper timeout 900 cargo test -q -p "$package" --release --test "$target" \
        -- --exact "$test" >"$log" 2>&1
    case $? in
    0) if grep -q '^running 1 test' "$log"; then echo SURVIVES; else echo "NO SUCH TEST"; fi ;;
    124) echo "NOT DONE IN 900 s" ;;
    *) echo killed ;;
    esac
}

failures=0
printf '%-24s%-16s%-62s%s\n' mutant verdict test seconds
for file in crates/rcu/tests/*.rs crates/rcu-flavours/tests/*.rs; do
    package=clique-${file#crates/}
    package=${package%%/*}
    target=$(basename "$file" .rs)
    case $target in
    loom_*) export RUSTFLAGS="--cfg loom" ;;
    *) export RUSTFLAGS= ;;
    esac
    rest=$(list "$file")
    while [ -n "$rest" ]; do
        line=$(echo "$rest" | head -n 1)
        rest=$(echo "$rest" | tail -n +2)
        mutant=${line% *} test=${line#* }
        wanted "$mutant" "$@" || continue
        wrapper=$CARGO_TARGET_DIR/mutants/$mutant
        printf '#!/bin/sh\nexec "$@" --cfg "rcu_mutant=\\"%s\\""\n' "$mutant" >"$wrapper"
        chmod +x "$wrapper"
        begin=$(date +%s)
        found=$(verdict)
        printf '%-24s%-16s%-62s%s\n' "$mutant" "$found" "$target::$test" $(($(date +%s) - begin))
        case $found in
        killed*) ;;
        *) failures=$((failures + 1)) ;;
        esac
    done
done
[ $failures = 0 ] || { echo "$failures mutants are not killed"; exit 1; }
