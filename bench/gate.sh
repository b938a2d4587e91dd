#!/usr/bin/env bash
# Instructions a packet on the hot paths, against those that the repository has: a rise is explained in the commit that raises it.
#
# usage: bench/gate.sh [--program FILE] [--write] [--json] [NAME...]
#
# bench/gate/instructions.txt lists configurations and counts. Each runs under callgrind for some packets ($LIMIT) and for three times as many; the
# difference has neither start nor end. 2 % more than listed fails, 2 % less asks for a new count, which --write writes. The program is the release
# build, target/release/clique, unless another is named. Counts depend on the compiler, not on how busy the machine is.
set -euo pipefail
cd "$(dirname "$0")/.."

program=target/release/clique write=false json=false names=()
while [ $# -gt 0 ]; do
    case $1 in
    --program) program=$2; shift ;;
    --write) write=true ;;
    --json) json=true ;;
    -*) sed -n '2,8s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
    *) names+=("$1") ;;
    esac
    shift
done
[ -x "$program" ] || { echo "$program is not there: cargo build --release" >&2; exit 2; }
command -v valgrind >/dev/null || { echo "skipped: valgrind, which counts instructions, is not installed"; exit 0; }
list=bench/gate/instructions.txt

count() { # packets configuration arguments...
    local packets=$1 log
    shift
    # In simulated time one thread runs the router, and it sleeps for nothing.
    log=$(valgrind --tool=callgrind --callgrind-out-file=/dev/null "$program" run --simtime "$@" "LIMIT=$packets" 2>&1 >/dev/null) ||
        { echo "$*: $log" >&2; return 1; }
    sed -n 's/.*Collected : \([0-9]*\).*/\1/p' <<<"$log" | head -n 1
}

wanted() { # name
    [ ${#names[@]} -eq 0 ] || [[ " ${names[*]} " == *" $1 "* ]]
}

failed=0 new_list=
while read -r line; do
    read -r name before arguments <<<"$line"
    if [[ $line != \#* ]] && wanted "$name"; then
        # Arguments are words of this repository's own list.
        # shellcheck disable=SC2086
        few=$(count 20000 $arguments)
        # shellcheck disable=SC2086
        many=$(count 60000 $arguments)
        read -r now verdict < <(awk -v few="$few" -v many="$many" -v before="$before" 'BEGIN {
            now = (many - few) / 40000
            print sprintf("%.1f", now), before == 0 ? "new" : now > before * 1.02 ? "MORE" : now < before * 0.98 ? "less" : "as-before" }')
        [ "$verdict" != MORE ] || failed=1
        if "$json"; then
            printf '{"name": "%s", "instructions": %s, "before": %s, "verdict": "%s"}\n' "$name" "$now" "$before" "$verdict"
        else
            printf '%-16s %9s  before %9s  %s\n' "$name" "$now" "$before" "$verdict"
        fi
        line="$name $now $arguments"
    fi
    new_list+=$line$'\n'
done <"$list"
if "$write"; then
    printf '%s' "$new_list" >"$list"
elif [ $failed = 1 ]; then
    echo "more instructions than $list says: find out why, or write them down (--write) and say why" >&2
    exit 1
fi
