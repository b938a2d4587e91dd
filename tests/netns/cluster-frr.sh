#!/usr/bin/env bash
# cluster-frr.click beside this script, four times, each with an FRR of its own: iBGP over the cluster itself, routes from hosts outside, and
# the node by which a packet leaves follows from the next hop.
source "$(dirname "$0")/lib.sh"
source "$(dirname "$0")/cluster-lib.sh"
source "$(dirname "$0")/frr-lib.sh"
WAIT=60
trap 'finish_daemons; finish_cluster' EXIT
build_cluster

# speak NAMESPACE ZEBRA_ARGUMENTS...: zebra and bgpd, with the configurations that are there.
speak() {
  daemon "$1" zebra "${@:2}"
  wait_for "zebra of ${1%-*}" test -S "$work/$1/zserv"
  daemon "$1" bgpd -p 179
}
ctl() { timeout 5 "$clique" ctl -u "$work/socket$1" "${@:2}"; }
route_is() { [ "$(ctl "$1" read "${4:-routes}.lookup" "$2" 2>/dev/null)" = "$3" ]; }

for i in 0 1 2 3; do
  frr_in "$(node $i)"
  ip -n "$(node $i)" addr add 10.0.$i.1/24 dev ext
  # IPv6 at the external port and inside, not on links.
  in_node $i sysctl -qw net.ipv6.conf.default.disable_ipv6=0 net.ipv6.conf.ext.disable_ipv6=0 net.ipv6.conf.lo.disable_ipv6=0
  ip -n "$(node $i)" addr add 2001:db8:$i::1/64 dev ext nodad
  in_node $i sysctl -qw net.ipv4.ip_forward=0 net.ipv4.conf.all.rp_filter=0 net.ipv4.conf.default.rp_filter=0
  echo "fpm address 127.0.0.1" >"$work/$(node $i)/zebra.conf"
  {
    echo "router bgp 65001"
    echo " bgp router-id 10.255.$i.1"
    echo " no bgp ebgp-requires-policy"
    echo " bgp graceful-restart"
    for j in 0 1 2 3; do
      [ $i = $j ] || printf ' neighbor 10.255.%s.1 remote-as 65001\n neighbor 10.255.%s.1 timers connect 1\n' $j $j
    done
    echo " neighbor 10.0.$i.2 remote-as 6510$i"
    echo " neighbor 10.0.$i.2 timers connect 1"
    echo " address-family ipv4 unicast"
    echo "  redistribute connected"
    for j in 0 1 2 3; do [ $i = $j ] || echo "  neighbor 10.255.$j.1 next-hop-self"; done
    printf ' exit-address-family\n address-family ipv6 unicast\n  redistribute connected\n  neighbor 10.0.%s.2 activate\n' $i
    for j in 0 1 2 3; do
      [ $i = $j ] || printf '  neighbor 10.255.%s.1 activate\n  neighbor 10.255.%s.1 next-hop-self\n  neighbor 10.255.%s.1 route-map global in\n' $j $j $j
    done
    # The address tells the node; one of the link alone would not.
    printf ' exit-address-family\nroute-map global permit 10\n set ipv6 next-hop prefer-global\n'
  } >"$work/$(node $i)/bgpd.conf"
done
# Two hosts announce the same network; node 2's is preferred by the other nodes, since its path is shorter.
for i in 2 3; do
  frr_in "$(host $i)"
  ip -n "$(host $i)" addr add 203.0.113.1/32 dev lo
  cat >"$work/$(host $i)/bgpd.conf" <<END
router bgp 6510$i
 bgp router-id 10.0.$i.2
 no bgp ebgp-requires-policy
 neighbor 10.0.$i.1 remote-as 65001
 neighbor 10.0.$i.1 timers connect 1
 address-family ipv4 unicast
  network 203.0.113.0/24
  neighbor 10.0.$i.1 route-map longer out
 exit-address-family
 address-family ipv6 unicast
  network 2001:db8:9::/48
  neighbor 10.0.$i.1 activate
  neighbor 10.0.$i.1 route-map longer out
route-map longer permit 10
 $([ $i = 2 ] || echo "set as-path prepend 65103 65103")
END
  ip -n "$(host $i)" route add blackhole 203.0.113.0/24
  ip -n "$(host $i)" addr add 2001:db8:9::1/128 dev lo nodad
  ip -n "$(host $i)" route add blackhole 2001:db8:9::/48
done

for i in 0 1 2 3; do run_node $i tests/netns/cluster-frr.click HOLD=15; done
for i in 0 1 2 3; do await $i 'active +3/3'; done
for i in 0 1 2 3; do ip -n "$(node $i)" addr add 2001:db8:ff:$i::1/48 dev inside nodad; done
says "the kernels of nodes reach each other through the cluster" " 0% packet loss" \
  in_node 0 ping -q -c 3 -i 0.1 -W 2 10.255.3.1
for i in 0 1 2 3; do speak "$(node $i)" -M dplane_fpm_nl -K 10; done
for i in 2 3; do speak "$(host $i)"; done

wait_for "a route by iBGP: the next hop is node 1" route_is 0 10.0.1.2 "2 10.255.1.1"
wait_for "a route from outside: by way of node 2" route_is 0 203.0.113.1 "2 10.255.2.1"
wait_for "at node 2 it leads to its neighbour" route_is 2 203.0.113.1 "1 10.0.2.2"
for i in 0 1 2 3; do holds "${pids[$i]}" "$work/socket$i"; done # with connections to zebra
says "in IPv6, too" " 0% packet loss" in_node 0 ping -q -c 3 -i 0.1 -W 2 2001:db8:ff:3::1
wait_for "an IPv6 route by iBGP" route_is 0 2001:db8:1::2 "2 2001:db8:ff:1::1" routes6
wait_for "an IPv6 route from outside" route_is 0 2001:db8:9::1 "2 2001:db8:ff:2::1" routes6
says "an IPv6 host behind it" " 0% packet loss" in_host 0 ping -q -c 5 -i 0.05 -W 2 2001:db8:9::1
says "a host behind it" " 0% packet loss" in_host 0 ping -q -c 5 -i 0.05 -W 2 203.0.113.1
says "one router: one hop" "^ *2 .*203.0.113.1" in_host 0 traceroute -n -w 2 -q 1 -N 1 203.0.113.1
says "from a node's own kernel" " 0% packet loss" in_node 1 ping -q -c 3 -i 0.1 -W 2 203.0.113.1

frr_kill "$(host 2)" bgpd
wait_for "its neighbour gone, by way of node 3" route_is 0 203.0.113.1 "2 10.255.3.1"
says "the same host, elsewhere" " 0% packet loss" in_host 0 ping -q -c 5 -i 0.05 -W 2 203.0.113.1

# Without zebra and bgpd a node goes on with the routes that it has, and so do the others.
frr_kill "$(node 0)" zebra
frr_kill "$(node 0)" bgpd
wait_for "node 0 is without FRR" eval '[ "$(ctl 0 read fpm.connected)" = false ]'
says "it forwards all the same" " 0% packet loss" in_host 0 ping -q -c 20 -i 0.02 -W 2 203.0.113.1

nodes_are_balanced
held=() # at the end FRR's daemons are killed, and all that is in their namespaces
