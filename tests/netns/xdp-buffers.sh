#!/usr/bin/env bash
# The buffers that the kernel is lent through XDP sockets come back: when interfaces go, when they return under their old number, and when
# configurations are replaced one after another. No configuration is refused because another one's buffers are not back yet.
source "$(dirname "$0")/lib.sh"

checksums=(tx off) # XDP receives frames as the peer hands them over
build
in_r "$clique" run -q -e "FromDevice(eth0, METHOD XDP) -> Discard" >"$work/log" 2>&1 || skip "$(head -n 1 "$work/log")"

pings() { in_h1 ping -q -c 1 -W 1 10.0.2.2 >/dev/null; }
second_host() {
  link "$h2" h2e 02:00:00:00:02:02 eth1 02:00:00:00:02:01
  address "$h2" h2e 10.0.2.2/24 10.0.2.1 2001:db8:2::2/64 2001:db8:2::1
}

start -u "$work/socket" "$root/conf/linux-router.click" METHOD=XDP
for round in $(seq 10); do
  ip -n "$r" link del eth1
  # Now and then packets are to be sent while there is no interface.
  [ $((round % 2)) = 0 ] || in_h1 ping -q -c 20 -i 0.01 -W 1 10.0.2.2 >/dev/null || true
  sleep 1.2
  second_host
  WAIT=10 wait_for "deletion $round: packets pass again" pings
done
balanced "$router" "$work/socket"

# Away for less time than Clique takes to notice, but the kernel has taken its sockets.
for _ in 1 2 3; do
  ip -n "$r" link set eth1 netns "$h2"
  ip -n "$h2" link set eth1 netns "$r"
  ip -n "$r" link set eth1 up
  WAIT=10 wait_for "under its old number: packets pass again" pings
done
stop

# An element that does not send notices, too.
launch -u "$work/socket" -e "Idle -> ToDevice(eth0, METHOD XDP); Idle -> ToDevice(eth1, METHOD XDP)"
for _ in 1 2 3; do
  ip -n "$r" link del eth1
  sleep 2.2
  second_host
done
stop

launch -R -u "$work/socket" -e "c :: Counter -> Discard; FromDevice(eth0, METHOD XDP) -> c"
for round in $(seq 8); do
  for interface in eth1 eth0; do
    ctl write hotconfig "c :: Counter -> Discard; FromDevice($interface, METHOD XDP) -> c" >"$work/said" ||
      fail "swap $round to $interface: $(cat "$work/said")"
  done
done
count=$(ctl read c.count)
in_h1 ping -q -c 50 -i 0.01 -W 1 10.0.1.1 >/dev/null || true
[ "$(ctl read c.count)" -gt "$count" ] || fail "nothing is received behind swaps"
echo "ok: swaps that follow each other are not refused"
stop
