#!/bin/sh
# Builds the book in target/book: the chapters of docs/src, and the element reference, a page a family, as the program prints it.
#
# usage, from anywhere: [CLIQUE=target/debug/clique] docs/build.sh
#
# Needs mdbook (cargo install --locked mdbook) and the program.
set -e
cd "$(dirname "$0")/.."
clique=${CLIQUE:-target/debug/clique}
source=target/book-source

rm -rf "$source"
mkdir -p target
cp -R docs "$source"

pages=$source/src/reference
"$clique" elements --book "$pages"
# The page that says how the reference is made stands above it, whatever has been written there.
cp docs/src/reference/README.md "$pages/README.md"

# A line for each page behind that of the reference.
lines=$(for page in "$pages"/*.md; do
    [ "$page" = "$pages/README.md" ] || printf '  - [%s](reference/%s)\n' "$(sed -n 's/^# //p;T;q' "$page")" "$(basename "$page")"
done)
[ -n "$lines" ] || { echo "$pages has no pages" >&2; exit 1; }
awk -v lines="$lines" '{ print } /\(reference\/README\.md\)/ { print lines }' "$source/src/SUMMARY.md" >"$source/summary"
mv "$source/summary" "$source/src/SUMMARY.md"

mdbook build "$source" --dest-dir "$PWD/target/book"
echo "target/book/index.html"
