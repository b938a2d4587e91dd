#!/usr/bin/env bash
# "Unnumbered" BGP of FRR: two peers, known by their interfaces alone, announce the same networks, for which IPv4 packets go to IPv6 gateways
# (RFC 8950), with the weights that route-maps give them. What zebra tells Clique is what it tells the kernel.
source "$(dirname "$0")/lib.sh"
source "$(dirname "$0")/frr-lib.sh"

build
kernel_has_addresses
frr_in "$r" "$h1" "$h2"
echo "fpm address 127.0.0.1" >"$work/$r/zebra.conf"
cat >"$work/$r/bgpd.conf" <<'END'
router bgp 65000
 bgp router-id 192.0.2.1
 no bgp ebgp-requires-policy
 bgp bestpath as-path multipath-relax
 neighbor eth0 interface remote-as external
 neighbor eth0 timers connect 1
 neighbor eth1 interface remote-as external
 neighbor eth1 timers connect 1
END
# peer NAMESPACE INTERFACE NUMBER BANDWIDTH
peer() {
  ip -n "$1" addr add 203.0.113."$3"/32 dev lo
  ip -n "$1" route add 198.51.100.0/24 dev lo
  cat >"$work/$1/bgpd.conf" <<END
router bgp 6500$3
 bgp router-id 192.0.2.1$3
 no bgp ebgp-requires-policy
 neighbor $2 interface remote-as external
 neighbor $2 timers connect 1
 address-family ipv4 unicast
  redistribute kernel
  redistribute connected
  neighbor $2 route-map weighted out
 exit-address-family
route-map weighted permit 10
 set extcommunity bandwidth $4
END
}
peer "$h1" h1e 1 100
peer "$h2" h2e 2 300
daemon "$r" zebra -M dplane_fpm_nl
for host in "$h1" "$h2"; do daemon "$host" zebra; done
for host in "$r" "$h1" "$h2"; do
  wait_for "zebra runs" test -S "$work/$host/zserv"
  daemon "$host" bgpd -p 179
done
start -j2 -u "$work/socket" "$root/conf/frr-router.click"

link_local() { ip -n "$1" -6 addr show dev "$2" scope link | sed -n 's/.*inet6 \([^/]*\).*/\1/p'; }
gateway1=$(link_local "$h1" h1e) gateway2=$(link_local "$h2" h2e)
WAIT=90 wait_for "a network behind the first peer" way_is 203.0.113.1 "7 $gateway1"
WAIT=90 wait_for "one behind the second" way_is 203.0.113.2 "8 $gateway2"
says "packets get there" "1 received" in_h1 ping -c 1 -W 5 -I 203.0.113.1 203.0.113.2
has() { ctl read routes.table | tr '\t' ' ' | grep -Eq "$1"; }
wait_for "one behind both" has "^198.51.100.0/24 .*$gateway1|^198.51.100.0/24 .*$gateway2"
ways() { ctl read routes.table | awk '/\// { own = $1 == "198.51.100.0/24"; $1 = own ? "" : $1 } own' | tr -s ' \t' ' '; }
weighted() { ways | grep -q "$gateway1 7 weight 25" && ways | grep -q "$gateway2 8 weight 75"; }
wait_for "with the weights of route-maps" weighted
says "as the kernel has it" "via inet6 $gateway2 dev eth1 weight 75" ip -n "$r" route show 198.51.100.0/24

# The weight changes, and then a peer goes.
vty "$h1" "configure terminal" "route-map weighted permit 10" "set extcommunity bandwidth 900" >/dev/null
vty "$h1" "clear bgp * soft out" >/dev/null
equal() { ways | grep -q "$gateway2 8 weight 25" && ways | grep -q "$gateway1 7 weight 75"; }
wait_for "other weights" equal
frr_kill "$h2" bgpd
WAIT=60 wait_for "the way that is left" way_is 198.51.100.1 "7 $gateway1"
wait_for "as for what only the other had, the default route that this one announces" way_is 203.0.113.2 "7 $gateway1"
stop
