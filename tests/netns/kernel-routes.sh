#!/usr/bin/env bash
# KernelRoutes: what the kernel's routing table says is what packets are forwarded by, whatever happens to it.
source "$(dirname "$0")/lib.sh"

build
kernel_has_addresses
kernel_router

start -j2 -u "$work/socket" "$work/router.click"
says "forwarding between connected networks" "1 received" in_h1 ping -c 1 -W 2 10.0.2.2
ip -n "$r" route add 203.0.113.0/24 via 10.0.2.2 metric 20
wait_for "a route" way_is 203.0.113.7 "2 10.0.2.2"
ip -n "$r" route add 203.0.113.0/24 via 10.0.1.2 metric 10
wait_for "a better one" way_is 203.0.113.7 "1 10.0.1.2"
ip -n "$r" route del 203.0.113.0/24 metric 10
wait_for "the other one again" way_is 203.0.113.7 "2 10.0.2.2"
ip -n "$r" route add blackhole 198.51.100.0/24
wait_for "a blackhole" way_is 198.51.100.1 3
ip -n "$r" route add 192.0.2.0/24 nexthop via 10.0.2.9 nexthop via 10.0.1.9 weight 3
several() { ctl read routes.table | tr '\t' ' ' | grep -Eq "192.0.2.0/24 +$1"; }
wait_for "several ways" several "10.0.1.9 +1 weight 3"
wait_for "with their weights" several "10.0.2.9 +2 weight 1"

# The kernel says nothing about the routes that go with a link.
ip -n "$r" link set eth1 down
wait_for "a link that is down" way_is 203.0.113.7 -1
ip -n "$r" link set eth1 up
wait_for "it is up again" way_is 10.0.2.2 2

# A link without a carrier: the kernel keeps its routes, Clique does not use them, nor the next hop of several.
ip -n "$r" route add 203.0.113.0/24 via 10.0.2.2
ip -n "$r" route replace 192.0.2.0/24 nexthop via 10.0.2.9 nexthop via 10.0.1.9 weight 3
wait_for "a route" way_is 203.0.113.7 "2 10.0.2.2"
wait_for "several ways" several "10.0.2.9 +2 weight 1"
ip -n "$h2" link set h2e down
wait_for "no carrier, no way" way_is 203.0.113.7 -1
wait_for "of several ways the one that is left" several "10.0.1.9 +1 *$"
ip -n "$h2" link set h2e up
wait_for "it is back" way_is 203.0.113.7 "2 10.0.2.2"
wait_for "and so are several ways" several "10.0.2.9 +2 weight 1"

# A link that no route leads to is no reason to read all routes again.
reads() { ctl read kernel.stats | sed -n 's/^connections //p'; }
sleep 0.5
before=$(reads)
in_r sysctl -qw net.ipv6.conf.default.disable_ipv6=1
for _ in 1 2 3; do
  ip -n "$r" link add other type veth peer name another
  ip -n "$r" link set other up
  ip -n "$r" link del other
done
sleep 0.5
[ "$(reads)" = "$before" ] || fail "all routes were read again: $before, $(reads)"
echo "ok: other links come and go"

# Neighbours that the kernel knows (KernelNeighbours).
neighbour_is() { ctl read "$1.neighbours" | grep -q "^$2"; }
ip -n "$r" neigh replace 10.0.2.77 lladdr 02:00:00:00:02:77 dev eth1 nud permanent
ip -n "$r" neigh replace 2001:db8:2::77 lladdr 02:00:00:00:02:77 dev eth1 nud permanent
wait_for "a permanent neighbour" neighbour_is p1/arp "10.0.2.77 02-00-00-00-02-77 permanent"
wait_for "IPv6: the same" neighbour_is p1/nd "2001:db8:2::77 02-00-00-00-02-77 permanent"
ip -n "$r" neigh replace 10.0.2.78 lladdr 02:00:00:00:02:78 dev eth1 nud stale
wait_for "one that was heard of" neighbour_is p1/arp "10.0.2.78 02-00-00-00-02-78 stale"
ctl write neighbours.panic ""
ip -n "$r" neigh del 10.0.2.77 dev eth1
gone() { ! neighbour_is "$1" "$2 .* permanent"; }
wait_for "one that is removed" gone p1/arp 10.0.2.77
says "an error of the program was survived" "^restarts 1" ctl read neighbours.stats

# Many at once: all arrive, also if the kernel has to drop messages.
for i in $(seq 20000); do echo "route add 20.$((i >> 8 & 255)).$((i & 255)).0/24 via 10.0.2.2"; done >"$work/batch"
ip -n "$r" -batch "$work/batch"
WAIT=60 wait_for "20000 routes" eval '[ "$(ctl read kernel.routes)" -gt 20000 ]'
ip -n "$r" route flush root 20.0.0.0/8
WAIT=60 wait_for "none of them" eval '[ "$(ctl read kernel.routes)" -lt 10 ]'
wait_for "and nothing leads there" way_is 20.1.1.1 -1
says "what the kernel kept to itself was found" "^swept [1-9]" ctl read kernel.stats
stop
