#!/usr/bin/env bash
# clique run --from-host: the kernel's own router taken over with one command, and given back, also after a violent end.
source "$(dirname "$0")/lib.sh"

build
in_r sysctl -qw net.ipv6.conf.all.disable_ipv6=0 net.ipv6.conf.default.disable_ipv6=0 \
  net.ipv6.conf.eth0.disable_ipv6=0 net.ipv6.conf.eth1.disable_ipv6=0
for i in 0 1; do
  ip -n "$r" addr add 10.0.$((i + 1)).1/24 dev eth$i
  ip -n "$r" addr add 2001:db8:$((i + 1))::1/64 dev eth$i nodad
  in_r ethtool -K eth$i gro on >/dev/null
done
in_r sysctl -qw net.ipv4.ip_forward=1 net.ipv6.conf.all.forwarding=1
ip -n "$r" route add 203.0.113.0/24 via 10.0.2.2
ip -n "$h2" addr add 203.0.113.1/32 dev lo

# What is changed and given back.
state() {
  in_r sysctl -n net.ipv4.conf.eth0.forwarding net.ipv4.conf.eth1.forwarding net.ipv4.ip_forward \
    net.ipv6.conf.all.forwarding net.ipv6.conf.eth0.forwarding net.ipv6.conf.eth1.forwarding | tr '\n' ' '
  in_r ethtool -k eth0 | grep generic-receive-offload
}
before=$(state)
[[ $before == "1 1 1 1 1 1 "*": on" ]] || fail "the test's own router: $before"
says "the kernel forwards" "1 received" in_h1 ping -c 1 -W 2 10.0.2.2

forwards() {
  says "$1: IPv4" " 0% packet loss" in_h1 ping -c 3 -i 0.2 -W 2 10.0.2.2
  says "$1: IPv6" " 0% packet loss" in_h1 ping -c 3 -i 0.2 -W 2 2001:db8:2::2
  says "$1: the kernel's route" " 0% packet loss" in_h1 ping -c 1 -W 2 203.0.113.1
  says "$1: the machine's own address" " 0% packet loss" in_h1 ping -c 1 -W 2 10.0.2.1
  says "$1: its neighbours see it" "1 received" in_r ping -c 1 -W 2 10.0.1.2
  says "$1: a hop" "^ *2 .*10.0.2.2" in_h1 traceroute -n -w 2 10.0.2.2
}

ctl() { "$clique" ctl -u "$work/socket" "$@"; }
take() {
  start --from-host -u "$work/socket" "$@"
  # The kernel forwards until Clique does: only the socket tells.
  for _ in $(seq 100); do
    ctl read p1/to.count >/dev/null 2>&1 && return
    sleep 0.1
  done
  fail "Clique does not start"
}

take
says "what is taken over is said" "eth0 .10.0.1.1/24.*taken over" cat "$work/log"
[[ $(state) == "0 0 1 0 0 0 "*": off" ]] || fail "not taken over: $(state)"
forwards "taken over"
says "it is Clique that forwards" "^[1-9]" ctl read p1/to.count
ip -n "$r" route add 198.51.100.0/24 via 10.0.2.2
ip -n "$h2" addr add 198.51.100.1/32 dev lo
sleep 0.5
says "a route that is added" "1 received" in_h1 ping -c 1 -W 2 198.51.100.1
says "no way" "From 10.0.1.1.*Destination Net Unreachable" in_h1 ping -c 1 -W 2 192.0.2.1
one_error() { # WHAT ADDRESS: a router, and only one, says that there is no way
  local errors
  errors=$({ in_h1 ping -6 -c 1 -W 2 "$2" 2>&1 || true; } | grep -c "From .*icmp_seq=1")
  [ "$errors" = 1 ] || fail "$1: $errors errors"
  echo "ok: $1: one error"
}
one_error "IPv6: no way" 2001:db9::1
ip -n "$r" route add unreachable 2001:db8:f2::/48
sleep 0.5
one_error "IPv6: a route of type unreachable" 2001:db8:f2::1

# Addresses that come and go, as with DHCP: the router uses them, and forwards meanwhile.
renumber() {
  ip -n "$r" addr add 10.0.3.1/24 dev eth1
  ip -n "$r" addr del 10.0.2.1/24 dev eth1
  ip -n "$r" addr add 2001:db8:3::1/64 dev eth1 nodad
  wait_for "which is said" grep -q "addresses have changed" "$work/log"
  WAIT=10 wait_for "the new address is this machine's" is routes.lookup 0 10.0.3.1
}
ip -n "$h2" addr add 10.0.3.2/24 dev h2e
ip -n "$r" route add 10.0.2.0/24 dev eth1 src 10.0.1.1 metric 9
ip -n "$h2" route replace 10.0.1.0/24 via 10.0.3.1
lossless "addresses change" 10.0.3.2 renumber
says "the new address answers" "1 received" in_h1 ping -c 1 -W 2 10.0.3.1
says "errors come from it" "From 10.0.3.1.*Time to live" in_h2 ping -c 1 -t 1 -W 2 10.0.1.2
ip -n "$r" addr add 10.0.2.1/24 dev eth1
ip -n "$r" addr del 10.0.3.1/24 dev eth1
ip -n "$r" addr del 2001:db8:3::1/64 dev eth1
WAIT=10 wait_for "the old one is back" is routes.lookup 0 10.0.2.1
ip -n "$h2" addr del 10.0.3.2/24 dev h2e
ip -n "$h2" route replace 10.0.1.0/24 via 10.0.2.1
ip -n "$r" route replace 203.0.113.0/24 via 10.0.2.2
ip -n "$r" route replace 198.51.100.0/24 via 10.0.2.2
says "a second router does not take over" "has taken this machine's interfaces over already" in_r "$clique" run --from-host
stop
[[ $(state) == "$before" ]] || fail "not given back: $(state)"
echo "ok: given back"
says "the kernel forwards again" "1 received" in_h1 ping -c 1 -W 2 10.0.2.2

take -j2
kill -9 "$router"
wait "$router" 2>/dev/null || true
rm -f "$work/socket"
[[ $(state) == "0 0 1 0 0 0 "* ]] || fail "what a killed program leaves: $(state)"
take
says "what was left is put back first" "was killed: what it had changed is put back" cat "$work/log"
forwards "taken over again"
stop
[[ $(state) == "$before" ]] || fail "not given back after that: $(state)"
echo "ok: given back after a kill"
# A signal may come at any moment of the start, of the run and of the end.
for after in 0.02 0.05 0.1 0.2 0.3 0.5 1 2; do
  in_r timeout "$after" "$clique" run --from-host >"$work/log" 2>&1 || true
  [[ $(state) == "$before" ]] || fail "not given back after $after s: $(state)"
done
echo "ok: given back whenever a signal comes"
says "one interface that is none" "eth7 is no Ethernet interface" in_r "$clique" run --from-host=eth7
