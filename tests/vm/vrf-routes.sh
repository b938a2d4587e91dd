#!/usr/bin/env bash
# KernelRoutes(VRF red): a lookup element has the routes of the VRF with this name, which comes, goes, and comes back with another table. A route
# that leads from one VRF to another is in the table where the kernel has it.
source "$(dirname "$0")/lib.sh"

inside() {
  source "$root/tests/netns/lib.sh"
  build
  kernel_has_addresses
  for i in 2 3; do
    ip -n "$r" link add eth$i type veth peer name peer$i
    ip -n "$r" link set eth$i up
    ip -n "$r" link set peer$i up
  done
  cat >"$work/router.click" <<'END'
main4 :: IPLookup; red4 :: IPLookup; red6 :: IP6Lookup; d :: Discard;
Idle -> main4; Idle -> red4; Idle -> red6;
main4[0] -> d; main4[1] -> d; main4[2] -> d;
red4[0] -> d; red4[1] -> d; red4[2] -> d; red4[3] -> d; red6[0] -> d; red6[1] -> d; red6[2] -> d;
main :: KernelRoutes(eth0 1, eth1 2, IPV4 main4, RECONCILE 0);
red :: KernelRoutes(eth2 1, eth3 2, eth1 3, VRF red, IPV4 red4, IPV6 red6, UNREACHABLE 0, RECONCILE 0);
END
  launch -u "$work/socket" "$work/router.click"
  is_there() { # ADDRESS WAY TABLE...
    local address=$1 way=$2
    shift 2
    for element in "$@"; do is "$element.lookup" "$way" "$address" || return 1; done
  }
  wait_for "the main table" is_there 10.0.2.2 2 main4
  wait_for "no VRF, no routes" is_there 10.0.2.2 -1 red4

  for table in 10 20; do
    ip -n "$r" link add red type vrf table $table
    ip -n "$r" link set red up
    for i in 2 3; do
      ip -n "$r" link set eth$i master red
      ip -n "$r" addr add 10.0.$i.1/24 dev eth$i
      ip -n "$r" addr add 2001:db8:$i::1/64 dev eth$i nodad
    done
    ip -n "$r" route add 203.0.113.0/24 via 10.0.3.9 vrf red
    ip -n "$r" route add 2001:db8:a::/48 via fe80::9 dev eth2 vrf red
    ip -n "$r" route add unreachable default metric 4278198272 vrf red
    ip -n "$r" route add 198.51.100.0/24 via 10.0.2.2 dev eth1 vrf red
    wait_for "table $table: a route of the VRF" is_there 203.0.113.1 "2 10.0.3.9" red4
    wait_for "IPv6: the same" is_there 2001:db8:a::1 "1 fe80::9" red6
    wait_for "networks of its interfaces" is_there 10.0.2.2 1 red4
    wait_for "a route that leads out of it" is_there 198.51.100.1 "3 10.0.2.2" red4
    wait_for "no route of its own is an answer" is_there 8.8.8.8 0 red4
    wait_for "the main table does not have them" is_there 203.0.113.1 -1 main4
    wait_for "but its own" is_there 10.0.2.2 2 main4
    ip -n "$r" link del red
    wait_for "the VRF is gone" is_there 203.0.113.1 -1 red4
    wait_for "IPv6: the same" is_there 2001:db8:a::1 -1 red6
    for i in 2 3; do ip -n "$r" addr flush dev eth$i; done
  done
  stop
}
guest inside
