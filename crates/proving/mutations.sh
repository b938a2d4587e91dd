#!/bin/sh
# Takes one protection at a time out of the product and checks that a story turns red.
#
# usage, from anywhere: crates/proving/mutations.sh [--search SECONDS] [NAME...]
#
# The protections are listed in mutations.txt beside this script: a name, what is taken out, the file, the piece of a line that is replaced,
# what by, and the story that shows it: family and seed, or a file in stories/. The working tree is copied, so that nothing happens to it. With --search, seeds of
# the family are tried for so many seconds each, and the first red one is printed: to be written into the list. Seeds are searched for again when
# stories are drawn in another way. A build takes up to a minute and a half for each; the exit status is 1 if a mutant survives.
cd "$(dirname "$0")/../.." || exit 2
list=$PWD/crates/proving/mutations.txt
copy=${TMPDIR:-/tmp}/clique-mutations
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$PWD/target}/mutations"
export CARGO_PROFILE_DEV_DEBUG=0 CARGO_INCREMENTAL=1
search=
if [ "$1" = --search ]; then
    search=$2
    shift 2
fi
mkdir -p "$copy" "$CARGO_TARGET_DIR" || exit 2
log=$CARGO_TARGET_DIR/log
git ls-files -z --cached --others --exclude-standard | tar --null -T - -c | tar -x -C "$copy" || exit 2
# A mutant has variables that no code uses.
sed -i 's/^warnings = "deny"$/warnings = "allow"/' "$copy/Cargo.toml" || exit 2
# A run that was broken off may have left a mutant that was built.
(cd "$copy" && sed -n 's/^file: //p' "$list" | xargs touch) || exit 2

wanted() { # name, names...
    name=$1
    shift
    [ $# = 0 ] && return 0
    for other; do [ "$other" = "$name" ] && return 0; done
    return 1
}

# Replaces the only place where $old stands in a file by $new.
mutate() { # file
    OLD=$old NEW=$new awk '
        { at = index($0, ENVIRON["OLD"])
          if (at) { found++; $0 = substr($0, 1, at - 1) ENVIRON["NEW"] substr($0, at + length(ENVIRON["OLD"])) }
          print }
        END { exit found == 1 ? 0 : 1 }' "$1" >"$copy/$1"
}

# How the stories take the mutant.
verdict() {
    mutate "$file" || { echo "NO SUCH PLACE"; return; }
    (cd "$copy" && cargo build -q -p clique-proving --bin proving) >"$log" 2>&1 || { echo "DOES NOT BUILD"; return; }
    family=${story% *} seed=${story#* }
    case $story in
    *.story) set -- "crates/proving/stories/$story" ;;
    *) if [ -n "$search" ]; then
        set -- --family "$family" --seeds 100000 --seconds "$search" --first
    else
        set -- --family "$family" --from "$seed" --seeds 1
    fi ;;
    esac
    timeout 600 "$CARGO_TARGET_DIR/debug/proving" "$@" >"$log" 2>&1
    case $? in
    0) echo SURVIVES ;;
    1) sed -n "s,^\(.*/\)*\(.*\): [0-9]* faults*$,red: \2,p" "$log" | head -n 1 ;;
    124) echo "red: does not end" ;;
    *) echo "red: the program dies" ;;
    esac
}

failures=0
while IFS= read -r line; do
    case $line in
    "name: "*) name=${line#*: } ;;
    "file: "*) file=${line#*: } ;;
    "old: "*) old=${line#*: } ;;
    "new: "*) new=${line#*: } ;;
    "new:") new= ;;
    "story: "*)
        story=${line#*: }
        wanted "$name" "$@" || continue
        found=$(verdict)
        cp "$file" "$copy/$file"
        printf '%-28s %s\n' "$name" "$found"
        case $found in
        red*) ;;
        *) failures=$((failures + 1)) ;;
        esac
        ;;
    esac
done <"$list"
[ $failures = 0 ] || { echo "$failures mutants are not noticed"; exit 1; }
