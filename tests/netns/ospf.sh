#!/usr/bin/env bash
# OSPF and OSPFv3 of FRR over Clique's ports: two neighbours and this router exchange their networks; a link goes down and comes back.
# About 40 s.
source "$(dirname "$0")/lib.sh"
source "$(dirname "$0")/frr-lib.sh"
[ -x $frr/ospf6d ] || skip "FRR has no ospf6d here"

build
kernel_has_addresses
frr_in "$h1" "$r" "$h2"
# Behind each host is a network that the others learn of.
ip -n "$h1" addr add 198.51.100.1/24 dev lo
ip -n "$h2" addr add 203.0.113.1/24 dev lo
ip -n "$h1" addr add 2001:db8:aaaa::1/64 dev lo
ip -n "$h2" addr add 2001:db8:bbbb::1/64 dev lo
for host in "$h1" "$h2"; do
  ip -n "$host" route del default
  ip -n "$host" -6 route del default
done

# speaks NAMESPACE ID INTERFACE...: OSPF for both families, hello every second.
speaks() {
  local namespace=$1 id=$2 interface
  shift 2
  {
    for interface in "$@"; do
      printf 'interface %s\n ip ospf area 0\n ip ospf hello-interval 1\n ip ospf dead-interval 4\n' "$interface"
      [ "$interface" = lo ] || printf ' ip ospf network point-to-point\n'
    done
    printf 'router ospf\n ospf router-id %s\n timers throttle spf 10 100 500\n' "$id"
  } >"$work/$namespace/ospfd.conf"
  {
    for interface in "$@"; do
      printf 'interface %s\n ipv6 ospf6 area 0\n ipv6 ospf6 hello-interval 1\n ipv6 ospf6 dead-interval 4\n' "$interface"
      [ "$interface" = lo ] || printf ' ipv6 ospf6 network point-to-point\n'
    done
    printf 'router ospf6\n ospf6 router-id %s\n timers throttle spf 10 100 500\n' "$id"
  } >"$work/$namespace/ospf6d.conf"
}
speaks "$h1" 1.1.1.1 h1e lo
speaks "$r" 9.9.9.9 eth0 eth1
speaks "$h2" 2.2.2.2 h2e lo
echo "fpm address 127.0.0.1" >"$work/$r/zebra.conf"

for namespace in "$h1" "$r" "$h2"; do
  modules=()
  [ "$namespace" != "$r" ] || modules=(-M dplane_fpm_nl)
  daemon "$namespace" zebra "${modules[@]}"
done
launch -j2 -u "$work/socket" "$root/conf/frr-router.click"
for namespace in "$h1" "$r" "$h2"; do
  wait_for "zebra runs" test -S "$work/$namespace/zserv"
  daemon "$namespace" ospfd
  daemon "$namespace" ospf6d
done

neighbours() { [ "$(vty "$r" "show ip ospf neighbor" | grep -c Full)" = 2 ]; }
neighbours6() { [ "$(vty "$r" "show ipv6 ospf6 neighbor" | grep -c Full)" = 2 ]; }
way6() { ctl read routes6.lookup "$2" | grep -q "^$1 "; } # OUTPUT ADDRESS
WAIT=60 wait_for "OSPF has two neighbours, over Clique's ports" neighbours
WAIT=60 wait_for "OSPFv3 has two neighbours" neighbours6
wait_for "a route to what is behind one" way_is 198.51.100.1 "1 10.0.1.2"
holds "$router" "$work/socket" # with a connection to zebra
wait_for "and behind the other" way_is 203.0.113.1 "2 10.0.2.2"
wait_for "IPv6: behind one" way6 1 2001:db8:aaaa::1
wait_for "IPv6: behind the other" way6 2 2001:db8:bbbb::1
reaches() { in_h1 ping -q -c 1 -W 1 -I "$1" "$2" >/dev/null; }
wait_for "from behind one to behind the other" reaches 198.51.100.1 203.0.113.1
wait_for "IPv6: the same" reaches 2001:db8:aaaa::1 2001:db8:bbbb::1
says "one hop in between" "^ *2 .*203.0.113.1" in_h1 traceroute -n -w 2 -s 198.51.100.1 203.0.113.1

ip -n "$h2" link set h2e down
wait_for "a link that is down takes its routes along" way_is 203.0.113.1 -1
table=routes6 wait_for "IPv6: the same" way_is 2001:db8:bbbb::1 -1
ip -n "$h2" link set h2e up
ip -n "$h2" addr replace 2001:db8:2::2/64 dev h2e nodad
WAIT=60 wait_for "it is up: they are back" way_is 203.0.113.1 "2 10.0.2.2"
WAIT=60 wait_for "packets flow again" reaches 198.51.100.1 203.0.113.1
WAIT=60 wait_for "IPv6: the same" reaches 2001:db8:aaaa::1 2001:db8:bbbb::1
stop
