#!/usr/bin/env bash
# Network cards with two queues, a worker for each: the router is a guest with two processors, its hosts are namespaces of this machine, joined by TAP
# interfaces. First with --from-host, then past the kernel, with an XDP program in the driver.
source "$(dirname "$0")/lib.sh"
[ -c /dev/net/tun ] || skip "this machine has no /dev/net/tun"

h1=vm1-$$ h2=vm2-$$ taps=(tapa$$ tapb$$)
ip netns add "$h1" 2>/dev/null || skip "this machine does not let this user make network namespaces"
at_end+=("ip netns del $h1" "ip netns del $h2" "ip link del ${taps[0]}" "ip link del ${taps[1]}")
ip netns add "$h2"
for tap in "${taps[@]}"; do
  ip tuntap add dev "$tap" mode tap multi_queue 2>/dev/null || skip "this machine does not let this user make TAP interfaces with several queues"
done

# used INTERFACE: how many of its queues have received anything.
used() { in_r ethtool -S "$1" | awk '/rx_queue_[0-9]+_packets|rx[0-9]+_packets/ && $2 > 0' | wc -l; }

router() {
  source "$root/tests/netns/lib.sh"
  # An XDP socket takes back the buffers of sent frames when it sends the next. Until then each queue has those that the card's ring had at the
  # end: up to 4 times 256 (ethtool -g), but traffic ends slowly, and 38 were counted. Some 2,000 frames are sent, so a leak of one in eight is seen.
  on_their_way=256
  for i in 0 1; do
    ip link set eth$i netns "$r"
    in_r ethtool -L eth$i combined 2
    ip -n "$r" link set eth$i up
    ip -n "$r" addr add 10.0.$((i + 1)).1/24 dev eth$i
    ip -n "$r" addr add 2001:db8:$((i + 1))::1/64 dev eth$i nodad
  done
  take -j2
  tell from-host
  await from-host-done
  counts_agree from-host
  stop

  ip -n "$r" addr flush dev eth0
  ip -n "$r" addr flush dev eth1
  launch -j2 -u "$work/socket" "$root/conf/linux-router.click" METHOD=XDP
  for i in 0 1; do
    for queue in 0 1; do says "xdp: eth$i" "queue $queue, native XDP" ctl read p$i/FromDevice@2.mode; done
  done
  tell xdp
  await xdp-done
  for i in 0 1; do
    says "xdp: eth$i: both queues are used" "^2$" used eth$i
    says "xdp: eth$i lost nothing" "^0$" ctl read p$i/FromDevice@2.kernel_drops
  done
  stop
}

guest router -c 2 -n "tap:${taps[0]}:2" -n "tap:${taps[1]}:2" &
(await from-host) || fail "the guest does not start"
# The other ends of the cables belong to the hosts.
for i in 1 2; do
  host=h$i
  tap=${taps[i - 1]}
  ip link set "$tap" netns "${!host}" name eth0
  ip -n "${!host}" link set lo up
  ip netns exec "${!host}" ethtool -K eth0 tso off gso off tx off >/dev/null 2>&1 || true
  ip -n "${!host}" link set eth0 up
  ip -n "${!host}" addr add "10.0.$i.2/24" dev eth0
  ip -n "${!host}" addr add "2001:db8:$i::2/64" dev eth0 nodad
  ip -n "${!host}" route add default via "10.0.$i.1"
  ip -n "${!host}" route add default via "2001:db8:$i::1"
done
ip netns exec "$h2" iperf3 -s >/dev/null 2>&1 &
server=$!
for phase in from-host xdp; do
  (await "$phase") || fail "$phase: the guest does not say that it is ready"
  says "$phase: IPv4" " 0% packet loss" ip netns exec "$h1" ping -c 50 -i 0.02 -W 10 10.0.2.2
  says "$phase: IPv6" " 0% packet loss" ip netns exec "$h1" ping -c 50 -i 0.02 -W 10 2001:db8:2::2
  says "$phase: fragments" " 0% packet loss" ip netns exec "$h1" ping -c 3 -i 0.2 -s 4000 -W 10 10.0.2.2
  for address in 10.0.2.2 2001:db8:2::2; do
    says "$phase: TCP to $address" "receiver" ip netns exec "$h1" timeout 90 iperf3 -c "$address" -P 8 -n 1M --connect-timeout 30000
  done
  tell "$phase-done"
done
kill $server
guests_end
