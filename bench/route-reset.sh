#!/usr/bin/env bash
# A session reset of a full table, end to end: BIRD announces ROUTES routes over BGP to FRR, whose zebra tells the kernel and, by its FPM
# interface, Clique. The session goes and comes back; measured is, for the kernel and for Clique in the same run, from when the session
# is shut until the last route is withdrawn, and from when it may come up until the last route is there. Root; prints JSON.
#
#   CLIQUE=target/dist/clique bench/route-reset.sh [ROUTES] [ROUNDS] >bench/runs/DATE-route-reset.json
#
# ROUTES is 200,000 and ROUNDS is 5 if they are not said. Programs: bird (bird2) and FRR. Memory is read before the first route and with all:
# resident memory of Clique, zebra and bgpd, and what the kernel cannot reclaim of its slabs.
ROUTES=${1:-200000} ROUNDS=${2:-5}
source "$(dirname "$0")/../tests/netns/lib.sh" bird
source "$root/tests/netns/frr-lib.sh"
[ -r /proc/net/fib_triestat ] || skip "this kernel does not count its routes (CONFIG_IP_FIB_TRIE_STATS)"

build >&2
kernel_has_addresses
frr_in "$r"
echo "fpm address 127.0.0.1" >"$work/$r/zebra.conf"
cat >"$work/$r/bgpd.conf" <<END
router bgp 65001
 bgp router-id 10.0.2.1
 no bgp ebgp-requires-policy
 neighbor 10.0.2.2 remote-as 65002
 neighbor 10.0.2.2 timers connect 1
END
daemon "$r" zebra -M dplane_fpm_nl
wait_for "zebra runs" test -S "$work/$r/zserv" >&2
start "$root/conf/frr-router.click" HOLD=10 >&2
wait_for "zebra is connected" is fpm.connected true >&2
daemon "$r" bgpd
wait_for "bgpd runs" test -S "$work/$r/bgpd.vty" >&2
# Destinations all over the address space, the same each time.
awk -v n="$ROUTES" 'BEGIN { for (i = 0; i < n; i++) printf "route %d.%d.%d.0/24 blackhole;\n", 20 + i / 65536, i / 256 % 256, i % 256 }' >"$work/routes"
cat >"$work/bird.conf" <<END
router id 10.0.2.2;
protocol device {}
protocol static full {
  ipv4;
include "$work/routes";
}
protocol bgp up {
  local 10.0.2.2 as 65002; neighbor 10.0.2.1 as 65001;
  connect delay time 1; connect retry time 1; error wait time 1,1;
  ipv4 { import none; export where source = RTS_STATIC; next hop self; };
}
END
export ROUTES ROUNDS
export VTY="vtysh --vty_socket $work/$r" SOCKET=$work/socket CLIQUE_PID=$router
CLIQUE_PID=$(pgrep -P "$router" clique || echo "$router")
ZEBRA_PID=$(cat "$work/$r/zebra.pid") BGPD_PID=$(cat "$work/$r/bgpd.pid")
export CLIQUE_PID ZEBRA_PID BGPD_PID
export BIRD="ip netns exec $h2 bird -f -c $work/bird.conf -s $work/bird.ctl -P $work/bird.pid"
COMMIT=$(git -C "$root" describe --always --dirty)
export COMMIT
status=0
in_r python3 "$root/bench/route-reset.py" || status=$?
[ ! -s "$work/bird.pid" ] || kill "$(cat "$work/bird.pid")" 2>/dev/null || true
[ $status != 0 ] || stop >&2
[ $status = 0 ] || fail "the measurement ended with status $status"
