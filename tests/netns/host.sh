#!/usr/bin/env bash
# Interfaces between Clique and the kernel of its own machine, and sockets.
source "$(dirname "$0")/lib.sh"

build
run() { # CONFIGURATION [ARGUMENTS...]: Clique in the router's namespace
  local configuration=$1
  shift
  ip netns exec "$r" "$clique" run "$@" -e "$configuration" >"$work/log" 2>&1 &
  router=$!
  sleep 0.5
}

for workers in 1 2; do
  run 'tun :: KernelTun(192.0.2.1/24, DEVNAME tun9) -> ICMPPingResponder -> tun' -j$workers
  says "KernelTun on $workers workers" "3 received" in_r ping -c 3 -i 0.2 -W 1 192.0.2.7
  says "its name" "tun9.*192.0.2.1/24" in_r ip -br addr
  stop
  run 'tap :: KernelTap(192.0.2.1/24, ETHER 02:00:00:00:00:99, MTU 1400) -> kind :: Classifier(12/0806 20/0001, 12/0800, -);
       kind[0] -> ARPResponder(0.0.0.0/0 1:1:1:1:1:1) -> tap;
       kind[1] -> CheckIPHeader(14) -> ICMPPingResponder -> EtherMirror -> Queue -> Unqueue -> tap;
       kind[2] -> Discard' -j$workers
  says "KernelTap on $workers workers" "3 received" in_r ping -c 3 -i 0.2 -W 1 192.0.2.7
  says "its MTU" "mtu 1400" in_r ip link
  stop
done

for queue in "" ", QUEUE 0" ", QUEUE 1"; do
  run "FromHost(fake0, 192.0.2.1/24, TYPE IP) -> ICMPPingResponder -> ToHost(fake0$queue)" -j2
  says "FromHost and ToHost on two workers${queue:-, each its own queue}" "3 received" in_r ping -c 3 -i 0.2 -W 1 192.0.2.7
  stop
done

for workers in 1 2; do
  run 'FromHost(fake0, 192.0.2.1/24, TYPE IP) -> Discard' -R -u "$work/socket" -j$workers
  ctl write hotconfig 'FromHost(fake0, 192.0.2.1/24, TYPE IP) -> ICMPPingResponder -> ToHost(fake0)' >/dev/null
  says "FromHost of a new configuration on $workers workers" "3 received" in_r ping -c 3 -i 0.2 -W 1 192.0.2.7
  ctl write hotconfig 'KernelTun(192.0.2.1/24, DEVNAME fake0) -> ICMPPingResponder -> ToHost(fake0)' >/dev/null 2>&1 &&
    fail "ToHost takes a KernelTun's interface"
  says "FromHost goes on when there is no new configuration" "3 received" in_r ping -c 3 -i 0.2 -W 1 192.0.2.7
  stop
done

run 'f :: FromHost(fake0, 192.0.2.1/24, TYPE IP) -> q :: Queue(5) -> u :: Unqueue(ACTIVE false) -> c :: Counter -> Discard' -u "$work/socket"
in_r ping -q -c 20 -i 0.02 -W 1 192.0.2.7 >/dev/null || true
says "FromHost leaves packets to the kernel" "^5 0 false$" echo "$(ctl read q.length) $(ctl read q.drops) $(ctl read f.signal)"
ctl write u.active true >/dev/null
wait_for "packets that the kernel has kept" at_least c.count 20
stop

run 'FromHost(fake0, 192.0.2.1/24) -> kind :: Classifier(12/0806 20/0001, 12/0800, -); kind[2] -> Discard;
     kind[0] -> ARPResponder(0.0.0.0/0 1:1:1:1:1:1) -> to :: ToHost(fake0);
     kind[1] -> route :: StaticIPLookup(192.0.2.0/24 0, 0/0 1) -> ICMPPingResponder -> EtherMirror -> to; route[1] -> Discard'
says "FromHost of frames, whose IP headers are marked" "3 received" in_r ping -c 3 -i 0.2 -W 1 192.0.2.7
stop

run 'FromHost(fake0, 192.0.2.1/24, TYPE IP) -> ICMPPingResponder -> ToHost(fake0)'
says "FromHost and ToHost" "3 received" in_r ping -c 3 -i 0.2 -W 1 192.0.2.7
says "an interface in use" "fake0 .driver tun.: .*another program has it" \
  in_r timeout 5 "$clique" run -e 'FromHost(fake0, TYPE IP) -> Discard'
stop

# TCP from the kernel comes in pieces of 64 KiB, which are cut here: through a tunnel interface to a host.
ip -n "$r" addr add 10.0.1.1/24 dev eth0
in_r sysctl -qw net.ipv4.ip_forward=1
run 'tap :: KernelTap(192.0.2.1/24, DEVNAME tap9, ETHER 02:00:00:00:00:99) -> kind :: Classifier(12/0806 20/0001, 12/0800, -);
     kind[0] -> ARPResponder(192.0.2.2 02:00:00:00:00:98) -> tap; kind[2] -> Discard;
     kind[1] -> count :: Counter -> Strip(14) -> out :: EtherEncap(0x0800, 02:00:00:00:01:01, 02:00:00:00:01:02) -> ToDevice(eth0);
     FromDevice(eth0, SNIFFER false) -> back :: Classifier(12/0800, -); back[1] -> Discard;
     back[0] -> Strip(14) -> EtherEncap(0x0800, 02:00:00:00:00:98, 02:00:00:00:00:99) -> tap' -u "$work/socket"
ip -n "$r" addr del 10.0.1.1/24 dev eth0
ip -n "$r" route add 10.0.1.0/24 via 192.0.2.2 dev tap9
ip -n "$h1" route add 192.0.2.0/24 via 10.0.1.1
ip -n "$h1" neigh replace 10.0.1.1 lladdr 02:00:00:00:01:01 dev h1e nud permanent
in_h1 timeout 20 iperf3 -s -1 >/dev/null &
sleep 0.3
says "TCP over a tunnel interface" "receiver" in_r timeout 10 iperf3 -c 10.0.1.2 -t 1
sent=$("$clique" ctl -u "$work/socket" read count.count)
[ "$sent" -gt 1000 ] || fail "so few packets: $sent"
stop
