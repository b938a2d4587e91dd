#!/usr/bin/env bash
# VRFs beside clique run --from-host: it forwards between the interfaces of the default VRF; those of VRF red, which has the same addresses, and its
# routes stay the kernel's, and no packet passes from one to the other.
source "$(dirname "$0")/lib.sh"

inside() {
  source "$root/tests/netns/lib.sh"
  build
  kernel_forwards
  # Two further hosts with the addresses of the first ones, around VRF red.
  red1=red1-$$ red2=red2-$$
  ip -n "$r" link add red type vrf table 10
  ip -n "$r" link set red up
  for i in 1 2; do
    local namespace=red$i
    ip netns add "${!namespace}"
    link "${!namespace}" e0 02:00:00:00:0$i:04 eth$((i + 1)) 02:00:00:00:0$i:03
    ip -n "${!namespace}" link set lo up
    address "${!namespace}" e0 10.0.$i.2/24 10.0.$i.1 2001:db8:$i::2/64 2001:db8:$i::1
    in_r sysctl -qw net.ipv6.conf.eth$((i + 1)).disable_ipv6=0
    ip -n "$r" link set eth$((i + 1)) master red
    ip -n "$r" addr add 10.0.$i.1/24 dev eth$((i + 1))
    ip -n "$r" addr add 2001:db8:$i::1/64 dev eth$((i + 1)) nodad
  done
  in_red1() { ip netns exec "$red1" "$@"; }
  ip -n "$red2" addr add 203.0.113.1/32 dev lo
  ip -n "$r" route add 203.0.113.0/24 via 10.0.2.2 vrf red
  # The VRF's own device has addresses, as it has where programs in red listen: it looks like an Ethernet interface.
  in_r sysctl -qw net.ipv6.conf.red.disable_ipv6=0
  ip -n "$r" addr add 198.51.100.1/32 dev red
  ip -n "$r" addr add 2001:db8:ff::1/128 dev red nodad
  says "the kernel forwards in red" "1 received" in_red1 ping -c 1 -W 10 203.0.113.1

  take
  for interface in eth2 eth3 red; do
    ! [[ " ${ports[*]} " == *" $interface "* ]] || fail "$interface is taken over"
  done
  forwards "default" 5
  counts_agree "default"
  says "red: IPv4" " 0% packet loss" in_red1 ping -c 5 -i 0.1 -W 10 10.0.2.2
  says "red's route" " 0% packet loss" in_red1 ping -c 2 -i 0.1 -W 10 203.0.113.1
  says "red's route is not the default VRF's" "100% packet loss" in_h1 ping -c 2 -i 0.2 -W 2 203.0.113.1
  # Linux has one switch of IPv6 forwarding for all interfaces.
  says "the VRF's own address" " 0% packet loss" in_red1 ping -c 2 -i 0.1 -W 10 198.51.100.1
  says "red's IPv6 is missed in a message" "(red, )?eth2, eth3(, red)?: not taken over, and the kernel forwards no IPv6 there" cat "$work/log"
  stop
  says "red: IPv6 afterwards" " 0% packet loss" in_red1 ping -c 5 -i 0.1 -W 10 2001:db8:2::2
  says "a member of a VRF by name" "eth2 belongs to red: no member of a bridge, bond or VRF is taken over" \
    in_r "$clique" run --from-host=eth2
  says "a VRF by name" "red is a VRF: its members and its routes stay the kernel's" in_r "$clique" run --from-host=red
}
guest inside
