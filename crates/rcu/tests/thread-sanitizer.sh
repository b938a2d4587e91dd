#!/bin/sh
# The tests with threads, under ThreadSanitizer, with a standard library that is instrumented, too.
#
# usage, from anywhere: crates/rcu/tests/thread-sanitizer.sh [CARGO_ARGUMENTS...]
#
# Needs the source of the standard library (`rustup component add rust-src`), and the compiler's unstable options.
# docs/src/design/rcu-grace-periods.md says what is reported with a standard library that is not instrumented.
set -e
cd "$(dirname "$0")/../../.."
if [ ! -f "$(rustc --print sysroot)/lib/rustlib/src/rust/library/Cargo.lock" ]; then
    echo "skipped: no source of the standard library (rustup component add rust-src)"
    exit 0
fi
target=$(rustc -vV | sed -n 's/^host: //p')
[ $# -gt 0 ] || set -- --test basics --test blocking --test cells --test late --test local --test torture
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$PWD/target}/thread-sanitizer"
export RUSTC_BOOTSTRAP=1 RUSTFLAGS="-Zsanitizer=thread -Cunsafe-allow-abi-mismatch=sanitizer"
export RUST_BACKTRACE=0 # tests that are to panic would take minutes for theirs
exec cargo test -Zbuild-std --target "$target" --locked -p clique-rcu "$@"
