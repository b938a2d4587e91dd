#!/usr/bin/env bash
# KernelRoutes(VRF red): a lookup element has the routes of the VRF with this name, which comes, goes, and comes back with another table. A route
# that leads from one VRF to another is in the table where the kernel has it.
#
# Then Clique forwards for two VRFs with the same addresses, a lookup element each: the packets of each take its own routes, but those of a route that
# leads to the other.
source "$(dirname "$0")/lib.sh"

# echoes NAMESPACE: how many echo requests have come there.
echoes() {
  ip netns exec "$1" awk '/^Icmp:/ && !n { for (i = 2; i <= NF; i++) if ($i == "InEchos") n = i; next } /^Icmp:/ { print $n }' /proc/net/snmp
}

# pings_reach WHAT FROM HOST OTHER [OPTION...] ADDRESS: pings from a namespace are answered, by a host, and not one comes to another that has
# the same address.
pings_reach() {
  local what=$1 from=$2 host=$3 other=$4 before missed
  shift 4
  before=$(echoes "$host") missed=$(echoes "$other")
  says "$what" " 0% packet loss" ip netns exec "$from" ping -c 5 -i 0.05 -W 10 "$@"
  [ "$(echoes "$host")" = $((before + 5)) ] || fail "$what: $(($(echoes "$host") - before)) of 5 echo requests come to $host"
  [ "$(echoes "$other")" = "$missed" ] || fail "$what: $(($(echoes "$other") - missed)) echo requests come to $other"
}

# VRF red is eth0 with h1 and eth1 with h2; VRF blue is eth2 with b1 and eth3 with b2. Both have 10.0.1.0/24 and 10.0.2.0/24, and a route to
# 203.0.113.0/24: by 10.0.2.2, which is h2, and by 10.0.2.9, which is b2.
two_vrfs() {
  local i host
  b1=b1-$$ b2=b2-$$
  for host in "$b1 2 10.0.1.2" "$b2 3 10.0.2.9"; do
    read -r host i address <<<"$host"
    ip netns add "$host"
    ip -n "$r" link set peer$i netns "$host" name e0
    ip -n "$host" link set lo up
    ip -n "$host" link set e0 up
    ip -n "$host" addr add "$address/24" dev e0
    ip -n "$host" route add default via "10.0.$((i - 1)).1"
    ip -n "$r" addr add "10.0.$((i - 1)).1/24" dev eth$i
  done
  for host in "$h2" "$b2"; do ip -n "$host" addr add 203.0.113.1/32 dev lo; done
  ip -n "$r" link add red type vrf table 10
  ip -n "$r" link add blue type vrf table 20
  for i in 0 1 2 3; do ip -n "$r" link set eth$i master "$([ $i -lt 2 ] && echo red || echo blue)"; done
  ip -n "$r" link set red up
  ip -n "$r" link set blue up
  ip -n "$r" route add 203.0.113.0/24 via 10.0.2.2 vrf red
  ip -n "$r" route add 203.0.113.0/24 via 10.0.2.9 vrf blue
}

forward_apart() {
  two_vrfs
  # The kernel, which does not forward, answers who asks for the router's addresses.
  cat >"$work/vrfs.click" <<'END'
elementclass Port { $device, $address, $ether |
  arp :: ARPQuerier($address, $ether) -> ToDevice($device);
  FromDevice($device) -> kind :: Classifier(12/0806 20/0002, 12/0800, -);
  kind[0] -> [1]arp;
  kind[1] -> Strip(14) -> CheckIPHeader -> output;
  kind[2] -> Discard;
  input -> DecIPTTL -> arp;
}
red :: IPLookup; red1 :: Port(eth0, 10.0.1.1, 02:00:00:00:01:01); red2 :: Port(eth1, 10.0.2.1, 02:00:00:00:02:01);
blue :: IPLookup; blue1 :: Port(eth2, 10.0.1.1, 02:00:00:00:02:03); blue2 :: Port(eth3, 10.0.2.1, 02:00:00:00:03:03);
red1 -> red; red2 -> red; red[0] -> red1; red[1] -> red2; red[2] -> blue2;
blue1 -> blue; blue2 -> blue; blue[0] -> blue1; blue[1] -> blue2; blue[2] -> red1;
KernelRoutes(eth0 0, eth1 1, eth3 2, VRF red, IPV4 red, RECONCILE 0);
KernelRoutes(eth2 0, eth3 1, eth0 2, TABLE 20, IPV4 blue, RECONCILE 0);
END
  launch -u "$work/socket" "$work/vrfs.click"
  wait_for "red's route" is red.lookup "1 10.0.2.2" 203.0.113.1
  wait_for "blue's route for the same prefix" is blue.lookup "1 10.0.2.9" 203.0.113.1
  by_kernel=$(forwarded_by_kernel)
  pings_reach "red's packets take its route" "$h1" "$h2" "$b2" 203.0.113.1
  pings_reach "blue's packets take its route" "$b1" "$b2" "$h2" 203.0.113.1

  # From red to a network behind blue's gateway, and from there back to a network behind a host of red.
  ip -n "$h1" addr add 192.0.2.1/32 dev lo
  for host in "$h2" "$b2"; do ip -n "$host" addr add 198.51.100.1/32 dev lo; done
  says "no route leads to the other" "100% packet loss" ip netns exec "$h1" ping -c 2 -i 0.2 -W 1 -I 192.0.2.1 198.51.100.1
  ip -n "$r" route add 198.51.100.0/24 via 10.0.2.9 dev eth3 vrf red
  ip -n "$r" route add 192.0.2.0/24 via 10.0.1.2 dev eth0 vrf blue
  says "a route that leads to the other, as the kernel has it" "via 10.0.2.9 dev eth3 table 10" \
    ip -n "$r" route get 198.51.100.1 vrf red
  wait_for "it is in red's table" is red.lookup "2 10.0.2.9" 198.51.100.1
  wait_for "and the way back in blue's" is blue.lookup "2 10.0.1.2" 192.0.2.1
  says "it is not in blue's" "^-1" ctl read blue.lookup 198.51.100.1
  pings_reach "its packets leave for the other" "$h1" "$b2" "$h2" -I 192.0.2.1 198.51.100.1
  pings_reach "others still take red's route" "$h1" "$h2" "$b2" 203.0.113.1
  ip -n "$r" route del 198.51.100.0/24 vrf red
  wait_for "it is gone" is red.lookup -1 198.51.100.1
  says "and so is the way" "100% packet loss" ip netns exec "$h1" ping -c 2 -i 0.2 -W 1 -I 192.0.2.1 198.51.100.1
  [ "$(forwarded_by_kernel)" = "$by_kernel" ] || fail "the kernel has forwarded $(($(forwarded_by_kernel) - by_kernel)) packets"
  stop
}

inside() {
  source "$root/tests/netns/lib.sh"
  build
  kernel_has_addresses
  for i in 2 3; do
    ip -n "$r" link add eth$i address 02:00:00:00:0$i:03 type veth peer name peer$i
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
  forward_apart
}
guest inside
