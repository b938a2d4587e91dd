#!/usr/bin/env bash
# The same random packets through Linux's own forwarding and through Clique: the same must come out (see differential.py, which lists what
# may differ, and why). TARGETS says through what of Clique's (default all): frr is conf/frr-router.click with the kernel's routes, host is
# `clique run --from-host`, linux is conf/linux-router.click; jumbo is host with an MTU of 9,000, and swap is frr while its configuration is
# exchanged for itself all the time. PACKETS of them each (default 2000), from SEED. About 15 s each.
source "$(dirname "$0")/lib.sh" python3

linux=$h1 tester=$h2 # the namespaces that the others are here

# router NAMESPACE PREFIX MTU: a router whose two links lead to the tester's PREFIX0 and PREFIX1, and what it knows.
router_in() {
  local namespace=$1 i
  for i in 0 1; do
    ip link add "$2$i" netns "$tester" address 02:00:00:00:0$((i + 1)):02 type veth \
      peer name eth$i netns "$namespace" address 02:00:00:00:0$((i + 1)):01
    ip -n "$tester" link set "$2$i" mtu $(($3 + 200)) up
    ip -n "$namespace" link set eth$i mtu "$3" up
    ip -n "$namespace" addr add 10.0.$((i + 1)).1/24 dev eth$i
    ip -n "$namespace" addr add 2001:db8:$((i + 1))::1/64 dev eth$i nodad
  done
  ip -n "$namespace" link set lo up
  ip -n "$namespace" -batch - <<'ROUTES'
route add 198.51.100.0/24 via 10.0.1.2
route add 198.18.0.0/17 via 10.0.1.2
route add 198.18.128.0/17 via 10.0.2.2
route add 203.0.113.0/24 via 10.0.2.2
route add 2001:db8:a::/48 via 2001:db8:1::2
route add 2001:db8:b::/48 via 2001:db8:2::2
ROUTES
  [ "$target" = linux ] || ip -n "$namespace" -batch - <<'ROUTES'
route add blackhole 192.168.1.0/24
route add unreachable 192.168.2.0/24
route add prohibit 192.168.3.0/24
route add blackhole 2001:db8:f1::/48
route add unreachable 2001:db8:f2::/48
route add prohibit 2001:db8:f3::/48
ROUTES
  ip netns exec "$namespace" sysctl -qw net.ipv4.conf.all.rp_filter=0 net.ipv4.conf.eth0.rp_filter=0 net.ipv4.conf.eth1.rp_filter=0 \
    net.ipv4.icmp_ratelimit=0 net.ipv6.icmp.ratelimit=0 net.ipv6.conf.all.accept_ra=0
}

# In the place of the kernel's addresses and routes, Clique has its own.
without_kernel() {
  local i
  for i in 0 1; do
    ip -n "$r" addr flush dev eth$i
  done
  in_r sysctl -qw net.ipv6.conf.all.disable_ipv6=1
}
own_routes() {
  local route
  for route in "198.51.100.0/24 10.0.1.2 1" "198.18.0.0/17 10.0.1.2 1" "198.18.128.0/17 10.0.2.2 2" "203.0.113.0/24 10.0.2.2 2"; do
    ctl write routes.add "$route"
  done
  ctl write routes6.add "2001:db8:a::/48 2001:db8:1::2 1"
  ctl write routes6.add "2001:db8:b::/48 2001:db8:2::2 2"
}

# The configuration takes its own place, again and again.
swaps() {
  while kill -0 "$router" 2>/dev/null; do
    ctl write hotconfig "$(ctl read config)" >"$work/swap" 2>&1 && echo done >>"$work/swaps" || true
    sleep 0.2
  done
}

# compare TARGET
compare() {
  local target=$1 mtu=1300 limit
  [ "$target" != jumbo ] || mtu=9000
  for name in "$linux" "$r" "$tester"; do
    ip netns del "$name" 2>/dev/null || true
    ip netns add "$name"
  done
  ip netns exec "$tester" sysctl -qw net.ipv6.conf.default.disable_ipv6=1 net.ipv6.conf.all.disable_ipv6=1
  router_in "$linux" l $mtu
  router_in "$r" c $mtu
  ip netns exec "$linux" sysctl -qw net.ipv4.ip_forward=1 net.ipv6.conf.all.forwarding=1 net.ipv4.conf.all.send_redirects=0 \
    net.ipv4.conf.eth0.send_redirects=0 net.ipv4.conf.eth1.send_redirects=0
  for limit in net.ipv4.icmp_msgs_per_sec=1000000 net.ipv4.icmp_msgs_burst=1000000; do # also per namespace, since Linux 6.11
    ip netns exec "$linux" sysctl -qw $limit 2>/dev/null || true
    in_r sysctl -qw $limit 2>/dev/null || true
  done
  # Linux limits redirects by neighbour, so there are none; netns/redirects.sh compares those.
  in_r sysctl -qw net.ipv4.conf.all.send_redirects=0 net.ipv4.conf.eth0.send_redirects=0 net.ipv4.conf.eth1.send_redirects=0
  local run=()
  case $target in
    frr | swap)
      in_r sysctl -qw net.ipv4.ip_forward=0 net.ipv6.conf.all.forwarding=0
      kernel_router
      run=(-R "$work/router.click" MTU=$mtu ERRORS=0)
      ;;
    host | jumbo)
      in_r sysctl -qw net.ipv4.ip_forward=1 net.ipv6.conf.all.forwarding=1
      run=(--from-host)
      ;;
    linux)
      without_kernel
      run=("$root/conf/linux-router.click" MTU=$mtu ERRORS=0)
      ;;
  esac
  ip netns exec "$r" "$clique" run -u "$work/socket" "${run[@]}" >"$work/log" 2>&1 &
  router=$!
  if [ "$target" = linux ]; then
    wait_for "Clique runs" ctl read version >/dev/null 2>&1
    own_routes
  else
    wait_for "$target: Clique has the kernel's routes" at_least kernel.routes 11
  fi
  holds "$router" "$work/socket"
  local swapping=
  if [ "$target" = swap ]; then
    swaps &
    swapping=$!
  fi
  MTU=$mtu TARGET=$target ip netns exec "$tester" python3 "$(dirname "$0")/differential.py" "${SEED:-1}" "${PACKETS:-2000}" ||
    fail "Linux and Clique differ: $target"
  [ "$target" != swap ] || [ "$(wc -l <"$work/swaps")" -ge 3 ] || fail "no swaps: $(cat "$work/swap")"
  [ -z "$swapping" ] || { kill "$swapping" && wait "$swapping" || true; } # two routers hold more than one
  stop
}

for target in ${TARGETS:-frr host linux jumbo swap}; do
  compare "$target"
  echo "ok: $target"
done
