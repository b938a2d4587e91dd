#!/usr/bin/env bash
# TCP between two hosts with the offloads that virtual links have by default: iperf3 through `clique run --from-host` beside the kernel's own
# forwarding, in the same namespaces. In each round the two take turns. Root; prints a table, or JSON.
#
#   CLIQUE=target/dist/clique bench/segments.sh [--json] [ROUNDS] [SECONDS] >bench/runs/DATE-MACHINE-segments.json
#
# ROUNDS is 7 and SECONDS is 3 if they are not said. These are veth pairs: nothing is known from it about network cards. Sender, receiver and
# router share the machine's processors, so a router that takes processor time slows the hosts down as well: with two processors the ratio is
# that of all the work, with more it is that of the slowest part. Processor time is that of the whole machine while it runs.
json=
[ "${1:-}" != --json ] || { json=1; shift; }
rounds=${1:-7} seconds=${2:-3}
source "$(dirname "$0")/../tests/netns/lib.sh" iperf3

offloads=default
build >&2
kernel_has_addresses
in_r sysctl -qw net.ipv4.ip_forward=1 net.ipv6.conf.all.forwarding=1

# Processor time of the whole machine, in ticks that were not idle.
busy() { awk '/^cpu / { print $2 + $3 + $4 + $6 + $7 + $8 }' /proc/stat; }

measure() { # WHO ADDRESS: a line of JSON
  local from
  in_h2 iperf3 -s -1 >/dev/null &
  local server=$!
  for _ in $(seq 50); do
    [ -z "$(in_h2 ss -Hltn 'sport = :5201')" ] || break
    sleep 0.1
  done
  from=$(busy)
  in_h1 iperf3 -c "$2" -t "$seconds" -J >"$work/iperf.json" || fail "iperf3: $(cat "$work/iperf.json")"
  BUSY=$(($(busy) - from)) WHO=$1 ADDRESS=$2 python3 - "$work/iperf.json" <<'PY'
import json, os, sys
end = json.load(open(sys.argv[1]))["end"]
print(json.dumps({"who": os.environ["WHO"], "address": os.environ["ADDRESS"],
    "gbit_per_s": round(end["sum_received"]["bits_per_second"] / 1e9, 3), "retransmits": end["sum_sent"]["retransmits"],
    "busy_ms_per_gbit": round(int(os.environ["BUSY"]) * 10 / (end["sum_received"]["bytes"] * 8 / 1e9), 1)}))
PY
  wait "$server" || true
}

for round in $(seq "$rounds"); do
  for address in 10.0.2.2 2001:db8:2::2; do
    measure linux "$address"
  done
  launch --from-host -u "$work/socket" >&2
  for address in 10.0.2.2 2001:db8:2::2; do
    measure clique "$address"
  done
  stop >&2
  echo "round $round of $rounds" >&2
done >"$work/runs"

COMMIT=$(git -C "$root" describe --always --dirty) JSON=$json python3 - "$work/runs" <<'PY'
import json, os, statistics, sys
runs = [json.loads(line) for line in open(sys.argv[1])]
def of(who, address, what):
    return [run[what] for run in runs if (run["who"], run["address"]) == (who, address)]
def spread(values):
    return {"median": round(statistics.median(values), 3), "least": min(values), "most": max(values)}
rows = []
for address in dict.fromkeys(run["address"] for run in runs):
    row = {"family": "IPv6" if ":" in address else "IPv4"}
    for who in "linux", "clique":
        for what in "gbit_per_s", "retransmits", "busy_ms_per_gbit":
            row[f"{who}_{what}"] = spread(of(who, address, what))
    pairs = zip(of("clique", address, "gbit_per_s"), of("linux", address, "gbit_per_s"))
    row["ratio"] = spread([round(clique / linux, 3) for clique, linux in pairs])
    rows.append(row)
if os.environ["JSON"]:
    print(json.dumps({"commit": os.environ["COMMIT"], "processors": os.cpu_count(), "kernel": os.uname().release,
        "medium": "veth", "rows": rows}, indent=1))
else:
    show = lambda s: f"{s['median']} ({s['least']} to {s['most']})"
    for row in rows:
        print(f"{row['family']}: Linux {show(row['linux_gbit_per_s'])} Gbit/s, Clique {show(row['clique_gbit_per_s'])}, ratio {show(row['ratio'])}; "
              f"machine's processor time a Gbit: {show(row['linux_busy_ms_per_gbit'])} and {show(row['clique_busy_ms_per_gbit'])} ms; "
              f"sent again: {show(row['linux_retransmits'])} and {show(row['clique_retransmits'])}")
PY
