#!/usr/bin/env bash
# How long a newcomer waits: from a fresh clone to the first line of `cargo run --release -- demo`, how large the program is
# then, and how long an edit of one element's file takes to that element's test result.
#
# usage: bench/first-run.sh [--json] [--first-only] [--limit SECONDS] [--keep FILE]
#
# Crates are downloaded before the clock starts (`cargo fetch`). With --limit it fails if the first line takes longer. --keep stores the program, as
# `cargo install` installs it.
# It needs git, cargo and strip, and about 3 GB under $TMPDIR.
set -euo pipefail
cd "$(dirname "$0")/.."

json=false first_only=false limit= keep=
while [ $# -gt 0 ]; do
    case $1 in
    --json) json=true ;;
    --first-only) first_only=true ;;
    --limit) limit=$2; shift ;;
    --keep) keep=$(realpath -m "$2"); shift ;;
    *) sed -n '2,9s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
    esac
    shift
done

say() { "$json" || printf '%-62s %s\n' "$1" "$2"; }
now() { date +%s.%N; }
since() { awk -v a="$1" -v b="$(now)" 'BEGIN { printf "%.1f", b - a }'; }

folder=$(mktemp -d "${TMPDIR:-/tmp}/first-run.XXXXXX")
trap 'rm -rf "$folder"' EXIT
git clone --quiet . "$folder/clique"
cd "$folder/clique"
unset CARGO_TARGET_DIR CARGO_INCREMENTAL
commit=$(git rev-parse --short=8 HEAD)
cargo fetch --quiet --locked

# The demo prints its first line a second after it has begun to forward.
start=$(now)
first_line=$(cargo run --quiet --release --locked -- demo --seconds 1 2>&1 | head -n 1)
first_s=$(since "$start")
[ -n "$first_line" ] || { echo "the demo printed nothing" >&2; exit 1; }
say "first line of 'cargo run --release -- demo' (commit $commit)" "$first_s s"

if [ -n "$keep" ]; then
    cargo install --quiet --locked --path crates/clique --root "$folder/root"
    "$folder/root/bin/clique" --version >/dev/null
    mkdir -p "$(dirname "$keep")"
    cp "$folder/root/bin/clique" "$keep"
fi
size() { stat -c %s "$1"; }
installed=$(size target/release/clique)
strip -o "$folder/stripped" target/release/clique
stripped=$(size "$folder/stripped")
say "the program as built, stripped" "$installed, $stripped bytes"

edit_s=null
if ! "$first_only"; then
    # The element's crate and its tests are built once, as they are for anyone who works on it.
    test=(cargo test --quiet --locked -p clique-elements-general --lib basic::strip)
    "${test[@]}" >/dev/null
    echo '// edited' >>crates/elements-general/src/basic/strip.rs
    start=$(now)
    "${test[@]}" >/dev/null
    edit_s=$(since "$start")
    say "an edit in Strip's file to the result of Strip's test" "$edit_s s"
fi

if "$json"; then
    cpu=$(sed -n 's/^model name\s*: //p' /proc/cpuinfo | head -n 1)
    printf '{"commit": "%s", "cpu": "%s", "processors": %s, "rustc": "%s", "first_line_s": %s, "installed_bytes": %s, "stripped_bytes": %s, "edit_to_test_s": %s}\n' \
        "$commit" "$cpu" "$(nproc)" "$(rustc --version | cut -d' ' -f2)" "$first_s" "$installed" "$stripped" "$edit_s"
fi
if [ -n "$limit" ] && awk -v s="$first_s" -v l="$limit" 'BEGIN { exit !(s > l) }'; then
    echo "the first line took $first_s s; at most $limit s are allowed" >&2
    exit 1
fi
