#!/usr/bin/env bash
# The same random packets through Linux's own forwarding and through Clique: the same must come out (see differential.py, which lists what
# may differ, and why). PACKETS of them (default 4000), from SEED. About 15 s.
source "$(dirname "$0")/lib.sh" python3

linux=$h1 tester=$h2 # the namespaces that the others are here
ip netns add "$linux"
ip netns add "$tester"

# router NAMESPACE PREFIX: a router whose two links lead to the tester's PREFIX0 and PREFIX1, and what it knows.
router_in() {
  local namespace=$1 i
  for i in 0 1; do
    ip link add "$2$i" netns "$tester" address 02:00:00:00:0$((i + 1)):02 type veth \
      peer name eth$i netns "$namespace" address 02:00:00:00:0$((i + 1)):01
    ip -n "$tester" link set "$2$i" up
    ip -n "$namespace" link set eth$i mtu 1300 up
    ip -n "$namespace" addr add 10.0.$((i + 1)).1/24 dev eth$i
    ip -n "$namespace" addr add 2001:db8:$((i + 1))::1/64 dev eth$i nodad
  done
  ip -n "$namespace" link set lo up
  ip -n "$namespace" -batch - <<'ROUTES'
route add 198.51.100.0/24 via 10.0.1.2
route add 198.18.0.0/17 via 10.0.1.2
route add 198.18.128.0/17 via 10.0.2.2
route add 203.0.113.0/24 via 10.0.2.2
route add blackhole 192.168.1.0/24
route add unreachable 192.168.2.0/24
route add prohibit 192.168.3.0/24
route add 2001:db8:a::/48 via 2001:db8:1::2
route add 2001:db8:b::/48 via 2001:db8:2::2
route add blackhole 2001:db8:f1::/48
route add unreachable 2001:db8:f2::/48
route add prohibit 2001:db8:f3::/48
ROUTES
  ip netns exec "$namespace" sysctl -qw net.ipv4.conf.all.rp_filter=0 net.ipv4.conf.eth0.rp_filter=0 net.ipv4.conf.eth1.rp_filter=0 \
    net.ipv4.icmp_ratelimit=0 net.ipv6.icmp.ratelimit=0 net.ipv6.conf.all.accept_ra=0
}
ip netns exec "$tester" sysctl -qw net.ipv6.conf.default.disable_ipv6=1 net.ipv6.conf.all.disable_ipv6=1
router_in "$linux" l
router_in "$r" c
ip netns exec "$linux" sysctl -qw net.ipv4.ip_forward=1 net.ipv6.conf.all.forwarding=1 net.ipv4.conf.all.send_redirects=0 \
  net.ipv4.conf.eth0.send_redirects=0 net.ipv4.conf.eth1.send_redirects=0
in_r sysctl -qw net.ipv4.ip_forward=0 net.ipv6.conf.all.forwarding=0
for limit in net.ipv4.icmp_msgs_per_sec=1000000 net.ipv4.icmp_msgs_burst=1000000; do # also per namespace, since Linux 6.11
  ip netns exec "$linux" sysctl -qw $limit 2>/dev/null || true
done
kernel_router

ip netns exec "$r" "$clique" run -u "$work/socket" "$work/router.click" MTU=1300 ERRORS=0 >"$work/log" 2>&1 &
router=$!
wait_for "Clique has the kernel's routes" at_least kernel.routes 11
ip netns exec "$tester" python3 "$(dirname "$0")/differential.py" "${SEED:-1}" "${PACKETS:-4000}" || fail "Linux and Clique differ"
stop
