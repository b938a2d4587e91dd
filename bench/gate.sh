#!/usr/bin/env bash
# Instructions a packet on the hot paths, counted by callgrind and compared with those in bench/instructions.txt.
#
# usage: bench/gate.sh [--json] [--program FILE] [--only NAME] [--baseline FILE] [--counts FILE] [--write]
#
# A path fails with more than 2 % above its line in the table; a path with more than 2 % below it only asks for a new one. A rise is
# explained in the commit that causes it, and that commit renews the table (--write).
#
# --program counts another program than target/shipped/clique, which bench/first-run.sh --keep leaves; build it as that does (release
# profile). --baseline compares with another table. --counts compares the counts in FILE, a table like the baseline, and runs nothing.
#
# The count of a path is the difference of two runs in simulated time, with a fixed seed, divided by the packets that one has more. The compiler is
# pinned (rust-toolchain.toml) and valgrind shows every program the same processor, one with AVX2 and without AVX-512. The tolerance is for
# what is left: another C library or valgrind, and how the compiler happens to lay out code that did not change.
set -euo pipefail
cd "$(dirname "$0")/.."

few=20000 many=120000 tolerance=0.02
# Name, handler that counts the packets that arrive, and what is run; N is the number of packets.
paths='
ip-router      d.count     conf/fake-iprouter.click LIMIT=N BURST=32
ip-router-one  d.count     --vector 1 conf/fake-iprouter.click LIMIT=N BURST=1
ipv6-router    d.count     bench/gate/ipv6-router.click LIMIT=N
firewall       d.count     bench/gate/firewall.click LIMIT=N
nat            d.count     bench/gate/nat.click LIMIT=N
nat-new        d.count     bench/gate/nat-new.click LIMIT=N
nat64          d.count     bench/gate/nat64.click LIMIT=N
exporter       d.count     bench/gate/exporter.click LIMIT=N
stateful       d.count     bench/gate/stateful.click LIMIT=N
esp            sent.count  conf/routebricks/ipsec.click IN=MEMORY_N OUT=MEMORY_N
cluster        d.count     bench/gate/cluster.click LIMIT=N
classifier     d.count     bench/gate/classifier.click LIMIT=N
'

json=false write=false only= program=target/shipped/clique baseline=bench/instructions.txt counts=
while [ $# -gt 0 ]; do
    case $1 in
    --json) json=true ;;
    --write) write=true ;;
    --program) program=$2; shift ;;
    --only) only=$2; shift ;;
    --baseline) baseline=$2; shift ;;
    --counts) counts=$2; shift ;;
    *) sed -n '2,16s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
    esac
    shift
done
if "$write" && [ -n "$only" ]; then
    echo "--write renews the whole table: leave --only out" >&2
    exit 2
fi

folder=$(mktemp -d "${TMPDIR:-/tmp}/gate.XXXXXX")
trap 'rm -rf "$folder"' EXIT

# The instructions of one run, into a file named after it; fails if a packet is lost, since a shorter way would count as a better one.
count() { # NAME PACKETS HANDLER ARGUMENTS...
    local name=$1 packets=$2 handler=$3 arguments=() argument text="$folder/$1.$2"
    shift 3
    for argument in "$@"; do
        argument=${argument/MEMORY_N/MEMORY $packets}
        arguments+=("${argument/%=N/=$packets}")
    done
    if ! valgrind --tool=callgrind --callgrind-out-file=/dev/null --log-file="$text.log" \
        "$program" run --simtime --no-socket -h "$handler" "${arguments[@]}" </dev/null >"$text.out" 2>&1; then
        cat "$text.log" "$text.out" >&2
        echo "$name: the run of $packets packets failed" >&2
        return 1
    fi
    if ! grep -qx "$packets" "$text.out"; then
        cat "$text.out" >&2
        echo "$name: not all of $packets packets have arrived" >&2
        return 1
    fi
    sed -n 's/^==[0-9]*== Collected : //p' "$text.log" >"$text"
}

# Every path in both lengths, as many at once as there are processors.
count_all() {
    local running=0 name handler arguments packets
    while read -r name handler arguments; do
        [ -n "$name" ] && { [ -z "$only" ] || [ "$name" = "$only" ]; } || continue
        echo "$name" >>"$folder/names"
        for packets in $few $many; do
            if [ "$running" -ge "$(nproc)" ]; then
                wait -n
                running=$((running - 1))
            fi
            # shellcheck disable=SC2086
            count "$name" "$packets" "$handler" $arguments &
            running=$((running + 1))
        done
    done <<<"$paths"
    while [ "$running" -gt 0 ]; do
        wait -n
        running=$((running - 1))
    done
    [ -e "$folder/names" ] || { echo "no path is named '$only'" >&2; return 2; }
    while read -r name; do
        awk -v n="$name" -v a="$(cat "$folder/$name.$few")" -v b="$(cat "$folder/$name.$many")" -v p=$((many - few)) \
            'BEGIN { printf "%-14s %8.1f\n", n, (b - a) / p }'
    done <"$folder/names" >"$folder/counts"
}

if [ -n "$counts" ]; then
    cp "$counts" "$folder/counts"
else
    command -v valgrind >/dev/null || { echo "valgrind counts instructions: install it" >&2; exit 2; }
    [ -x "$program" ] || { echo "$program: no such program; bench/first-run.sh --first-only --keep $program builds it" >&2; exit 2; }
    grep -qw avx2 /proc/cpuinfo || { echo "this processor has no AVX2, so that other code runs than in the table" >&2; exit 2; }
    count_all
fi

tools="rustc $(rustc --version 2>/dev/null | cut -d' ' -f2), $(valgrind --version 2>/dev/null || true), $(ldd --version 2>/dev/null | sed -n '1s/.* /glibc /p')"
if "$write"; then
    {
        echo "# Instructions a packet (bench/gate.sh, which also writes this). $tools."
        cat "$folder/counts"
    } >"$baseline"
fi

touch "$folder/baseline"
[ ! -e "$baseline" ] || cp "$baseline" "$folder/baseline"
awk -v tolerance=$tolerance -v json="$json" -v tools="$tools" -v table="$baseline" '
    /^#/ || !NF { next }
    FILENAME ~ /baseline$/ { expected[$1] = $2; next }
    {
        ratio = expected[$1] > 0 ? $2 / expected[$1] : 0
        verdict = !ratio ? "new" : ratio > 1 + tolerance ? "more" : ratio < 1 - tolerance ? "less" : "same"
        seen[verdict]++
        if (json == "true")
            rows = rows (rows ? ", " : "") sprintf("{\"path\": \"%s\", \"instructions_per_packet\": %.1f, \"baseline\": %s, \"ratio\": %s, \"verdict\": \"%s\"}", \
                $1, $2, ratio ? sprintf("%.1f", expected[$1]) : "null", ratio ? sprintf("%.4f", ratio) : "null", verdict)
        else if (ratio)
            printf "%-14s %8.1f instructions a packet, %8.1f in the table: %+.2f %%%s\n", $1, $2, expected[$1], 100 * (ratio - 1), verdict == "same" ? "" : "  <- " verdict
        else
            printf "%-14s %8.1f instructions a packet, not in the table\n", $1, $2
    }
    END {
        if (json == "true")
            printf "{\"tools\": \"%s\", \"tolerance\": %s, \"paths\": [%s]}\n", tools, tolerance, rows
        if (seen["less"])
            print "less than the table says: renew it in this commit (bench/gate.sh --write)" >"/dev/stderr"
        if (seen["more"])
            printf "more than %s allows: make it cheaper, or say in the commit why it takes more and renew the table in it (bench/gate.sh --write)\n", table >"/dev/stderr"
        if (seen["new"])
            printf "not in %s: bench/gate.sh --write adds it\n", table >"/dev/stderr"
        exit seen["more"] || seen["new"] ? 1 : 0
    }' "$folder/baseline" "$folder/counts"
