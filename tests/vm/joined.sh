#!/usr/bin/env bash
# Three machines, joined by two cables: h1 -- eth0 r eth1 -- h2, each with a kernel of its own. The router forwards with --from-host, then past its kernel:
# virtio-net runs XDP programs itself (native).
source "$(dirname "$0")/lib.sh"

# host NUMBER: this guest's only card is the host's.
host() {
  ip link set eth0 up
  ip addr add "10.0.$1.2/24" dev eth0
  ip addr add "2001:db8:$1::2/64" dev eth0 nodad
  ip route add default via "10.0.$1.1"
  ip route add default via "2001:db8:$1::1"
}

h1() {
  source "$root/tests/netns/lib.sh"
  host 1
  for phase in from-host xdp; do
    await "$phase"
    says "$phase: IPv4" " 0% packet loss" ping -c 50 -i 0.02 -W 10 10.0.2.2
    says "$phase: IPv6" " 0% packet loss" ping -c 50 -i 0.02 -W 10 2001:db8:2::2
    says "$phase: fragments" " 0% packet loss" ping -c 3 -i 0.2 -s 4000 -W 10 10.0.2.2
    for address in 10.0.2.2 2001:db8:2::2; do
      says "$phase: TCP to $address" "receiver" timeout 60 iperf3 -c "$address" -n 500K --connect-timeout 30000
    done
    tell "$phase-done"
  done
}

h2() {
  host 2
  iperf3 -s >/dev/null &
  await xdp-done
}

router() {
  source "$root/tests/netns/lib.sh"
  for i in 0 1; do
    ip link set eth$i netns "$r"
    ip -n "$r" link set eth$i up
    ip -n "$r" addr add 10.0.$((i + 1)).1/24 dev eth$i
    ip -n "$r" addr add 2001:db8:$((i + 1))::1/64 dev eth$i nodad
  done
  take
  tell from-host
  await from-host-done
  counts_agree from-host
  stop

  ip -n "$r" addr flush dev eth0
  ip -n "$r" addr flush dev eth1
  launch -u "$work/socket" "$root/conf/linux-router.click" METHOD=XDP
  for i in 0 1; do says "xdp: eth$i" "native XDP" ctl read p$i/FromDevice@2.mode; done
  tell xdp
  await xdp-done
  for i in 0 1; do says "xdp: eth$i lost nothing" "^0$" ctl read p$i/FromDevice@2.kernel_drops; done
  stop
}

guest h2 -m 256 -n "$work/right/b" &
guest router -n "$work/left/b" -n "$work/right/a" &
guest h1 -m 256 -n "$work/left/a" &
guests_end
