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

run 'FromHost(fake0, 192.0.2.1/24, TYPE IP) -> ICMPPingResponder -> ToHost(fake0)'
says "FromHost and ToHost" "3 received" in_r ping -c 3 -i 0.2 -W 1 192.0.2.7
says "an interface in use" "fake0: .*another program has it" \
  in_r timeout 5 "$clique" run -e 'FromHost(fake0, TYPE IP) -> Discard'
stop
