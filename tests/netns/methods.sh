#!/usr/bin/env bash
# The ways to receive: through packet sockets and past the kernel; what the kernel gets; queues; changing horses.
source "$(dirname "$0")/lib.sh"

checksums=(tx off) # XDP receives frames as the peer hands them over
build
# Older kernels have no XDP, or cannot keep packets from themselves.
for method in "METHOD XDP" "SNIFFER false"; do
  in_r "$clique" run -q -e "FromDevice(eth0, $method) -> Discard" >"$work/log" 2>&1 || skip "$(head -n 1 "$work/log")"
done

router_config=$root/conf/linux-router.click
ctl() { "$clique" ctl -u "$work/socket" "$@"; }

# The kernel has an address that Clique knows nothing of.
ip -n "$r" addr add 10.0.1.9/24 dev eth0
pings_kernel() { in_h1 ping -c 1 -W 1 10.0.1.9; }

for method in LINUX XDP; do
  start -R -u "$work/socket" "$router_config" METHOD=$method
  says "$method: ping" " 0% packet loss" in_h1 ping -c 3 -i 0.2 -W 2 10.0.2.2
  says "$method: traceroute" "^ *2 .*10.0.2.2" in_h1 traceroute -n -w 2 10.0.2.2
  says "$method: fragments" " 0% packet loss" in_h1 ping -c 2 -i 0.2 -s 5000 -W 2 10.0.2.2
  in_h2 timeout 20 iperf3 -s -1 >/dev/null &
  sleep 0.3
  says "$method: iperf3" "receiver" in_h1 timeout 10 iperf3 -c 10.0.2.2 -t 1
  in_h1 ping -q -c 100 -i 0.01 -W 2 10.0.2.2 >"$work/pings" &
  pings=$!
  sleep 0.3
  sed "s/\$METHOD LINUX/\$METHOD $method/" "$router_config" >"$work/new.click"
  ctl write hotconfig "$(cat "$work/new.click")" >/dev/null
  wait $pings || true
  says "$method: a configuration replaced without a loss" "100 received" cat "$work/pings"
  ! grep "another element has it" "$work/log" || fail "$method: a configuration was replaced with a complaint"
  ip -n "$r" link set eth1 down
  sleep 0.2
  ip -n "$r" link set eth1 up
  says "$method: a link that is up again" " [1-9] received" in_h1 ping -c 5 -i 0.3 -W 1 10.0.2.2
  # AF_XDP sockets are not told that an interface is down.
  [ $method = XDP ] || says "$method: that it is up again is said" "eth1 is up again" cat "$work/log"
  ip -n "$r" link del eth1
  sleep 1.5
  says "$method: an interface that vanishes is reported" "FromDevice: eth1: .*; waiting for it to come back" cat "$work/log"
  link "$h2" h2e 02:00:00:00:02:02 eth1 02:00:00:00:02:01
  address "$h2" h2e 10.0.2.2/24 10.0.2.1 2001:db8:2::2/64 2001:db8:2::1
  says "$method: an interface that comes back" " [1-9][0-9]* received" in_h1 ping -c 15 -i 0.3 -W 1 10.0.2.2
  stop
done

# Who answers for the kernel's address.
for case in "1 received:FromDevice(eth0) -> Discard" "0 received:FromDevice(eth0, SNIFFER false) -> Discard" \
  "1 received:FromDevice(eth0, SNIFFER false, HOST arp 10.0.1.9) -> Discard" \
  "0 received:FromDevice(eth0, METHOD XDP) -> Discard" \
  "1 received:FromDevice(eth0, METHOD XDP, HOST arp 10.0.1.0/28) -> Discard" \
  "0 received:FromDevice(eth0, METHOD XDP, HOST arp 10.0.1.16/28) -> Discard" \
  "1 received:FromDevice(eth0, METHOD XDP, HOST arp icmp@10.0.1.9) -> Discard" \
  "0 received:FromDevice(eth0, METHOD XDP, HOST arp bgp ospf udp:7) -> Discard"; do
  ip -n "$h1" neigh flush dev h1e
  : >"$work/log"
  launch -u "$work/socket" -e "${case#*:}"
  # XDP says when it is there.
  sleep 0.5
  for _ in $(seq 50); do
    [[ $case == *XDP* ]] && ! grep -q "XDP, " "$work/log" || break
    sleep 0.1
  done
  says "${case#*:}: the kernel's address" "${case%%:*}" pings_kernel
  stop
done

# Frames that wait for each other, in the kernel or here, and a kernel that looks for frames itself.
for how in "SNIFFER false, WAIT 3ms" "METHOD XDP, WAIT 300us" "METHOD XDP, BUSY_POLL 20"; do
  method=LINUX
  [[ $how != *XDP* ]] || method=XDP
  launch -u "$work/socket" -e "
    FromDevice(eth0, $how) -> kind :: Classifier(12/0806 20/0001, 12/0800, -);
    kind[0] -> ARPResponder(10.0.1.1 02:00:00:00:01:01) -> to :: ToDevice(eth0, METHOD $method);
    kind[1] -> CheckIPHeader(14) -> ICMPPingResponder -> EtherMirror -> to; kind[2] -> Discard"
  in_h1 ping -q -c 1 -i 0.2 -w 10 10.0.1.1 >/dev/null || fail "$how: no answer"
  # A busy machine has been seen to lose one of them.
  says "$how" " (299|300) received" in_h1 ping -q -c 300 -i 0.001 -W 2 10.0.1.1
  stop
done

# What comes while the router stands still is counted once, be it fetched later or lost.
arrived() { in_r cat /sys/class/net/eth0/statistics/rx_packets; }
all_are_counted() {
  [ "$(($(arrived) - before))" = "$(($(ctl read from.count) + $(ctl read from.kernel_drops)))" ]
}
in_h1 sysctl -qw net.ipv6.conf.h1e.disable_ipv6=1 # nothing else may come
for method in LINUX XDP; do
  launch -u "$work/socket" -e "from :: FromDevice(eth0, METHOD $method) -> Discard"
  before=$(($(arrived) - $(ctl read from.count)))
  kill -STOP "$router"
  in_h1 "$clique" run -e "RatedSource(DATA \\<88b5>, LENGTH 60, RATE 50000, LIMIT 20000, STOP true)
    -> EtherEncap(0x88b5, 02:00:00:00:01:02, 02:00:00:00:01:01) -> ToDevice(h1e)"
  kill -CONT "$router"
  wait_for "$method: each frame is counted" all_are_counted
  says "$method: and some are lost" "[1-9]" ctl read from.kernel_drops
  stop
done

# Where the driver cannot do it the kernel runs the program.
ip -n "$r" link add bridge9 type bridge
ip -n "$r" link set bridge9 up
says "generic XDP" "queue 0, generic XDP, copied" in_r "$clique" run -q -e "FromDevice(bridge9, METHOD XDP) -> Discard"

# Two queues, a worker for each.
ip -n "$r" link del eth0
ip link add h1e netns "$h1" address 02:00:00:00:01:02 numtxqueues 2 numrxqueues 2 type veth \
  peer name eth0 netns "$r" address 02:00:00:00:01:01 numtxqueues 2 numrxqueues 2
in_h1 ethtool -K h1e tso off gso off tx off >/dev/null
ip -n "$r" link set eth0 up
ip -n "$h1" link set h1e up
address "$h1" h1e 10.0.1.2/24 10.0.1.1 2001:db8:1::2/64 2001:db8:1::1
says "who serves what" "replicated  eth0 queue 1" \
  in_r "$clique" check -j2 -e "FromDevice(eth0, METHOD XDP) -> Discard"
start -j2 -u "$work/socket" "$router_config" METHOD=XDP
says "two queues" "queue 1, native XDP" cat "$work/log"
in_h2 timeout 20 iperf3 -s -1 >/dev/null &
sleep 0.3
says "iperf3 over two queues" "receiver" in_h1 timeout 10 iperf3 -c 10.0.2.2 -t 1 -P 8
says "mode" "queue 0, native XDP, copied" ctl read p0/FromDevice@2.mode
stop

# Where /sys is another namespace's, the driver says how many queues there are, fewer than there may be.
ip -n "$r" link add two0 numrxqueues 2 numtxqueues 2 type veth peer name two1
in_r ethtool -L two0 rx 1 tx 1
ip -n "$r" link set two0 up
says "queues without /sys" "queue 0, (native|generic) XDP" nsenter --net="/var/run/netns/$r" \
  timeout 10 "$clique" run -e "FromDevice(two0, METHOD XDP) -> Discard; Script(wait 0.5s, stop)"
