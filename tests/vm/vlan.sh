#!/usr/bin/env bash
# VLAN devices under clique run --from-host: h1 in VLAN 10, h2 in VLAN 20, and an untagged network on the interface below the first one.
source "$(dirname "$0")/lib.sh"

# vlan NAMESPACE INTERFACE ID ADDRESSES...
vlan() {
  local namespace=$1 interface=$2 id=$3 address
  shift 3
  ip -n "$namespace" link add link "$interface" name "$interface.$id" type vlan id "$id"
  ip -n "$namespace" link set "$interface.$id" up
  ip netns exec "$namespace" sysctl -qw "net.ipv6.conf.$interface/$id.accept_dad=0"
  for address in "$@"; do ip -n "$namespace" addr add "$address" dev "$interface.$id"; done
}

inside() {
  source "$root/tests/netns/lib.sh"
  build
  in_r sysctl -qw net.ipv6.conf.all.disable_ipv6=0 net.ipv6.conf.default.disable_ipv6=0
  ip -n "$h1" addr flush dev h1e scope global
  ip -n "$h2" addr flush dev h2e scope global
  vlan "$r" eth0 10 10.0.1.1/24 2001:db8:1::1/64
  vlan "$r" eth1 20 10.0.2.1/24 2001:db8:2::1/64
  vlan "$h1" h1e 10 10.0.1.2/24 2001:db8:1::2/64
  vlan "$h2" h2e 20 10.0.2.2/24 2001:db8:2::2/64
  ip -n "$h1" addr add 10.0.3.2/24 dev h1e
  ip -n "$r" addr add 10.0.3.1/24 dev eth0
  for host in 1 2; do
    local namespace=h$host
    ip -n "${!namespace}" route replace default via "10.0.$host.1"
    ip -n "${!namespace}" route replace default via "2001:db8:$host::1"
  done
  in_r sysctl -qw net.ipv4.ip_forward=1 net.ipv6.conf.all.forwarding=1
  says "the kernel forwards" "1 received" in_h1 ping -c 1 -W 10 10.0.2.2

  take
  for interface in eth0 eth0.10 eth1.20; do
    [[ " ${ports[*]} " == *" $interface "* ]] || fail "$interface is not taken over: ${ports[*]}"
  done
  ! grep -i warning "$work/log" || fail "a warning"
  forwards "VLANs"
  says "from a VLAN to the untagged network" " 0% packet loss" in_h2 ping -c 3 -i 0.2 -W 10 10.0.3.2
  counts_agree "VLANs"
  stop
}
guest inside
