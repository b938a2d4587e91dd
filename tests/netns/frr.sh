#!/usr/bin/env bash
# conf/frr-router.click with routes from FRR: a BGP peer announces ROUTES of them, zebra tells Clique; zebra dies and comes back.
# The cable to the peer is cut and mended. About 80 s.
source "$(dirname "$0")/lib.sh"
source "$(dirname "$0")/frr-lib.sh"

routes=${ROUTES:-100000}

build
kernel_has_addresses
frr_in "$r" "$h2"

# The router: zebra, which tells Clique, and bgpd.
cat >"$work/$r/zebra.conf" <<'END'
fpm address 127.0.0.1
END
cat >"$work/$r/bgpd.conf" <<'END'
router bgp 65001
 bgp router-id 10.0.1.1
 no bgp ebgp-requires-policy
 neighbor 10.0.2.2 remote-as 65002
 neighbor 10.0.2.2 timers connect 1
 neighbor 2001:db8:2::2 remote-as 65002
 neighbor 2001:db8:2::2 timers connect 1
 address-family ipv4 unicast
  no neighbor 2001:db8:2::2 activate
 exit-address-family
 address-family ipv6 unicast
  neighbor 2001:db8:2::2 activate
END
# The peer announces what its kernel has.
cat >"$work/$h2/bgpd.conf" <<'END'
router bgp 65002
 bgp router-id 10.0.2.2
 no bgp ebgp-requires-policy
 neighbor 10.0.2.1 remote-as 65001
 neighbor 10.0.2.1 timers connect 1
 neighbor 2001:db8:2::1 remote-as 65001
 neighbor 2001:db8:2::1 timers connect 1
 address-family ipv4 unicast
  redistribute kernel
  no neighbor 2001:db8:2::1 activate
 exit-address-family
 address-family ipv6 unicast
  redistribute kernel
  neighbor 2001:db8:2::1 activate
END
ip -n "$h2" addr add 203.0.113.1/32 dev lo
ip -n "$h2" addr add 2001:db8:ffff::1/128 dev lo
awk -v n="$routes" 'BEGIN {
  for (i = 1; i <= n; i++) printf "route add 20.%d.%d.%d/32 dev lo\n", i / 65536, i / 256 % 256, i % 256
  print "route add 203.0.113.0/24 dev lo"; print "route add 2001:db8:ffff::/48 dev lo" }' >"$work/batch"
ip -n "$h2" -batch "$work/batch"

daemon "$r" zebra -M dplane_fpm_nl -K 20
daemon "$h2" zebra
wait_for "zebra runs" test -S "$work/$r/zserv"
wait_for "the peer's zebra runs" test -S "$work/$h2/zserv"
daemon "$r" bgpd -p 179
daemon "$h2" bgpd -p 179
daemon "$r" staticd

start -j2 -u "$work/socket" "$root/conf/frr-router.click" HOLD=25
echo "ok: forwarding between connected networks"
WAIT=240 wait_for "$routes routes announced by BGP are installed" at_least routes.length "$routes"
wait_for "none was refused" stat_is fpm refused 0
wait_for "the way to one of them" way_is 203.0.113.1 "2 10.0.2.2"
says "a host behind a BGP route" "1 received" in_h1 ping -c 1 -W 2 203.0.113.1
table=routes6 wait_for "IPv6: a BGP route, its next hop on the link" eval 'ctl read routes6.lookup 2001:db8:ffff::1 | grep -q "^2 "'
says "IPv6: a host behind a BGP route" "1 received" in_h1 ping -6 -c 1 -W 2 2001:db8:ffff::1
says "BGP over Clique's own port" "10.0.2.2 .*65002" vty "$r" "show bgp summary"

# Routes that lead nowhere, from staticd: silently, or with an answer.
static() { vty "$r" "configure terminal" "$@"; }
static "ip route 203.0.113.1/32 blackhole" "ip route 203.0.113.2/32 reject" "ipv6 route 2001:db8:ffff::1/128 reject"
wait_for "a blackhole route" way_is 203.0.113.1 3
says "what is in it" "0 received" in_h1 ping -c 1 -W 1 203.0.113.1
wait_for "an unreachable route" way_is 203.0.113.2 4
says "what Linux would say" "From 10.0.1.1 .*Destination Host Unreachable" in_h1 ping -c 1 -W 1 203.0.113.2
table=routes6 wait_for "IPv6: an unreachable route" way_is 2001:db8:ffff::1 4
says "IPv6: what Linux would say" "From 2001:db8:1::1 .*No route" in_h1 ping -6 -c 1 -W 1 2001:db8:ffff::1
static "no ip route 203.0.113.1/32 blackhole" "no ip route 203.0.113.2/32 reject" "no ipv6 route 2001:db8:ffff::1/128 reject"
wait_for "it is gone" way_is 203.0.113.1 "2 10.0.2.2"

# The cable to the peer is cut: nothing is sent there, and the routes are withdrawn. It is mended: they come back.
at_most() { [ "$(ctl read "$1" 2>/dev/null || echo 1000000)" -le "$2" ]; }
ip -n "$h2" link set h2e down
WAIT=60 wait_for "no link, no way" way_is 203.0.113.1 -1
says "which senders are told" "From 10.0.1.1 .*Unreachable" in_h1 ping -c 1 -W 1 203.0.113.1
WAIT=60 wait_for "BGP's routes are withdrawn" at_most routes.length 1000
ip -n "$h2" link set h2e up
ip -n "$h2" addr replace 2001:db8:2::2/64 dev h2e nodad # the kernel forgets IPv6 addresses of an interface that is down
ip -n "$h2" route replace default via 10.0.2.1
ip -n "$h2" route replace default via 2001:db8:2::1
WAIT=120 wait_for "BGP's routes are back" at_least routes.length "$routes"
WAIT=60 wait_for "the way is back" way_is 203.0.113.1 "2 10.0.2.2"
says "and leads there" " [1-9] received" in_h1 ping -c 5 -i 0.5 -W 1 203.0.113.1
table=routes6 WAIT=60 wait_for "IPv6: the way is back" eval 'ctl read routes6.lookup 2001:db8:ffff::1 | grep -q "^2 "'
says "IPv6: and leads there" " [1-9] received" in_h1 ping -6 -c 5 -i 0.5 -W 1 2001:db8:ffff::1
wait_for "none was refused meanwhile" stat_is fpm refused 0

# Zebra and its daemons die at once while packets flow, and come back; meanwhile the peer withdraws a route.
die() {
  for name in zebra bgpd staticd; do frr_kill "$r" "$name"; done
  wait_for "zebra is gone" stat_is fpm connected 0
  at_least routes.length "$routes" || fail "routes went with zebra"
  ip -n "$h2" route del 20.0.0.1/32
  rm -f "$work/$r"/*.pid "$work/$r"/*.vty "$work/$r/zserv"
  daemon "$r" zebra -M dplane_fpm_nl -K 20
  wait_for "zebra is back" stat_is fpm connected 1
  wait_for "its socket" test -S "$work/$r/zserv"
  daemon "$r" bgpd -p 179
  WAIT=60 wait_for "what was withdrawn meanwhile is swept away" way_is 20.0.0.1 -1
}
lossless "zebra and bgpd are killed and come back" 203.0.113.1 die
WAIT=60 wait_for "the others are there" at_least routes.length "$routes"
stop
