#!/usr/bin/env bash
# stage.sh PROGRAM: lays what packages contain into target/package: the program, links by the names of Click's programs, manual pages,
# completions, examples. PROGRAM is a clique with all features.
set -euo pipefail
program=$(realpath "$1")
root=$(cd "$(dirname "$0")/.." && pwd)
stage=$root/target/package
rm -rf "$stage"
mkdir -p "$stage"/{bin,man,completions,examples}

cp "$program" "$stage/bin/clique"
for name in click $("$program" --help | grep -oE "click-[a-z]+|click2xml|xml2click" | sort -u); do ln -s clique "$stage/bin/$name"; done

"$program" man >"$stage/man/clique.1"
for command in $("$program" --help | sed -n '/^Commands:/,/^$/s/^  \([a-z-]*\) .*/\1/p' | grep -v '^help$'); do
  "$program" man "$command" >"$stage/man/clique-$command.1"
done

"$program" completions bash >"$stage/completions/clique"
"$program" completions zsh >"$stage/completions/_clique"
"$program" completions fish >"$stage/completions/clique.fish"

cp "$root"/conf/*.click "$root"/packaging/monitoring/* "$stage/examples/"
