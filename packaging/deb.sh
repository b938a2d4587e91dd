#!/usr/bin/env bash
# deb.sh [-p PROGRAM] [-o FILE]: makes a Debian package. Without -p it builds the program with all elements and link-time optimisation first.
# It needs cargo-deb (`cargo install cargo-deb`). FILE is target/clique.deb unless said otherwise.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
program= out=$root/target/clique.deb
while getopts "p:o:" option; do
  case $option in
    p) program=$(realpath "$OPTARG") ;;
    o) out=$(realpath -m "$OPTARG") ;;
    *) exit 2 ;;
  esac
done
cd "$root"
if [ -z "$program" ]; then
  CARGO_TARGET_DIR=target cargo build --locked --profile dist --features full -p clique
  program=target/dist/clique
fi
packaging/stage.sh "$program"
strip target/package/bin/clique
CARGO_TARGET_DIR=target cargo deb --quiet --locked --no-build --no-strip -p clique --output "$out"
echo "$out"
