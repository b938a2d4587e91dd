#!/usr/bin/env bash
# RouteBricks' RB4 on this machine: `clique cluster up --local 4`, hosts that send and receive (clique-bench), and beside it a router that is
# alone between two hosts. Loss-free rate (RFC 2544) at 64 bytes and IMIX, for one pair of hosts and with every host sending to the next;
# latency at 10, 50 and 90 % of it; packets out of order by the paper's definition, for each ORDER; processor time of the nodes on the
# way. Root; a table, or JSON with --json. Hosts, nodes and the kernel's virtual cables (veth) share the processors of this machine, so rates are
# far below those of servers with processors of their own, for which `clique-bench cluster --only rb4` stands.
#
#   CLIQUE=target/dist/clique BENCH=target/dist/clique-bench bench/rb4.sh [--json] [--tiny]
#
# SECONDS_EACH (default 1) is how long a trial lasts. --tiny makes short trials, to see that it works.
bench=$(dirname "${BASH_SOURCE[0]}")
arguments=("$@")
set --
source "$bench/../tests/netns/lib.sh"
program=${BENCH:-$root/target/debug/clique-bench}
[ -x "$program" ] || skip "$program is not there; build it, or say BENCH=FILE"
# The cluster's namespaces, and those of the router that is alone, have this name.
name=rb4-$$
finish_rb4() {
  "$clique" cluster down --name "$name" >/dev/null 2>&1 || true
  for i in h0 h2 alone; do ip netns del "$name-$i" 2>/dev/null || true; done
  finish
}
trap finish_rb4 EXIT
python3 "$bench/rb4.py" --clique "$clique" --bench "$program" --name "$name" --alone "$bench/cluster-alone.click" \
  --commit "$(git -C "$root" describe --always --dirty 2>/dev/null || echo unknown)" --work "$work" --seconds "${SECONDS_EACH:-1}" "${arguments[@]}"
