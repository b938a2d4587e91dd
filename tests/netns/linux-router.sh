#!/usr/bin/env bash
# conf/linux-router.click between two hosts: what a new user would try.
source "$(dirname "$0")/lib.sh"

build

# Processor time of the router so far, in ticks.
ticks() { awk '{ print $14 + $15 }' "/proc/$router/stat"; }

transfer() { # FROM TO ADDRESS
  ip netns exec "$2" timeout 20 iperf3 -s -1 >/dev/null &
  local i
  for i in $(seq 50); do # until it listens
    [ -z "$(ip netns exec "$2" ss -Hltn 'sport = :5201')" ] || break
    sleep 0.1
  done
  says "iperf3 $3 on $workers workers" "receiver" ip netns exec "$1" timeout 10 iperf3 -c "$3" -t 1
}

for workers in 1 2; do
  start -j"$workers" "$root/conf/linux-router.click"
  says "ping" " 0% packet loss" in_h1 ping -c 3 -i 0.2 -W 2 10.0.2.2
  says "the router answers" "1 received" in_h1 ping -c 1 -W 2 10.0.1.1
  says "the router answers from the far side" "1 received" in_h1 ping -c 1 -W 2 10.0.2.1
  says "a time to live that ends" "From 10.0.1.1.*Time to live exceeded" in_h1 ping -c 1 -t 1 -W 2 10.0.2.2
  says "no way" "From 10.0.1.1.*Destination Net Unreachable" in_h1 ping -c 1 -W 2 192.0.2.1
  says "IPv6: the router answers" "1 received" in_h1 ping -6 -c 1 -W 2 2001:db8:1::1
  says "IPv6: the router answers from the far side" "1 received" in_h1 ping -6 -c 1 -W 2 2001:db8:2::1
  says "IPv6: no way" "From 2001:db8:1::1.*No route" in_h1 ping -6 -c 1 -W 2 2001:db9::1
  says "traceroute" "^ *2 .*10.0.2.2" in_h1 traceroute -n -w 2 10.0.2.2
  says "fragments" " 0% packet loss" in_h1 ping -c 2 -i 0.2 -s 5000 -W 2 10.0.2.2
  says "fragments for the router" " 0% packet loss" in_h1 ping -c 2 -i 0.2 -s 3000 -W 2 10.0.1.1
  says "large ones for its far side" " 0% packet loss" in_h1 ping -c 2 -i 0.2 -s 60000 -W 2 10.0.2.1
  says "a host that is not there" "0 received" in_h1 ping -c 1 -W 1 10.0.2.77
  says "IPv6: fragments" " 0% packet loss" in_h1 ping -6 -c 2 -i 0.2 -s 5000 -W 2 2001:db8:2::2
  says "IPv6: fragments for the router" " 0% packet loss" in_h1 ping -6 -c 2 -i 0.2 -s 3000 -W 2 2001:db8:1::1
  says "IPv6: large ones for its far side" " 0% packet loss" in_h1 ping -6 -c 2 -i 0.2 -s 60000 -W 2 2001:db8:2::1
  says "IPv6: a host that is not there" "0 received" in_h1 ping -6 -c 1 -W 1 2001:db8:2::77
  says "IPv6: ping" " 0% packet loss" in_h1 ping -6 -c 3 -i 0.2 -W 2 2001:db8:2::2
  says "IPv6: a hop limit that ends" "From 2001:db8:1::1.*Hop limit" in_h1 ping -6 -c 1 -t 1 -W 2 2001:db8:2::2
  says "IPv6: traceroute" "^ *2 .*2001:db8:2::2" in_h1 traceroute -6 -n -w 2 2001:db8:2::2
  says "IPv6: the router's own ports" "^ *1 .*2001:db8:" in_h1 traceroute -6 -n -w 2 2001:db8:1::1
  transfer "$h1" "$h2" 10.0.2.2
  transfer "$h1" "$h2" 2001:db8:2::2
  transfer "$h2" "$h1" 10.0.1.2
  transfer "$h2" "$h1" 2001:db8:1::2
  before=$(ticks)
  sleep 1
  spent=$(($(ticks) - before))
  [ "$spent" -le 5 ] || fail "an idle router took $spent ticks of a second"
  echo "ok: idle means asleep ($spent ticks)"
  stop
done

# Addresses are resolved again and again, in both directions.
start "$root/conf/linux-router.click"
resolves() { # HOST INTERFACE ROUTER FAR_HOST
  ip -n "$1" neigh flush dev "$2"
  ip netns exec "$1" ping -q -c 2 -i 0.3 -W 2 "$4" >/dev/null || fail "no answer from $4"
  says "$3 is resolved" "lladdr 02:00:00:00:0" ip -n "$1" neigh show "$3"
}
resolves "$h1" h1e 10.0.1.1 10.0.2.2
resolves "$h1" h1e 2001:db8:1::1 2001:db8:2::2
resolves "$h2" h2e 10.0.2.1 10.0.1.2
resolves "$h2" h2e 2001:db8:2::1 2001:db8:1::2
stop

# A host that asks for the router is known to it, before anything is sent there.
ip -n "$h1" neigh flush dev h1e
in_h1 ping -q -c 1 -W 2 10.0.1.1 >/dev/null || true
ip -n "$h1" neigh flush dev h1e
launch -u "$work/socket" "$root/conf/linux-router.click"
knows() { ctl read "$1.neighbours" | grep -q "$2 02-00-00-00-01-02"; }
in_h1 ping -q -c 1 -W 2 10.0.1.1 >/dev/null || fail "the router does not answer"
wait_for "who asks by ARP is known" knows p0/arp 10.0.1.2
in_h1 ping -6 -q -c 1 -W 2 2001:db8:1::1 >/dev/null || fail "the router does not answer IPv6"
wait_for "who solicits is known" knows p0/nd 2001:db8:1::2
is p0/nd.queries 0 || fail "the router asked for whom it knew: $(ctl read p0/nd.queries)"

# Errors are limited.
flood() { # ADDRESS: how many of the hundred or more packets a second are answered with errors, and how many packets there are
  { in_h1 timeout -s INT 6 ping -q -f "$1" 2>&1 || true; } | sed -n 's/^\([0-9]*\) packets.*+\([0-9]*\) errors.*/\2 of \1/p'
}
stop
launch -u "$work/socket" "$root/conf/linux-router.click" ERRORS=20
errors=$(flood 192.0.2.1)
[ "${errors%% *}" -ge 100 ] && [ "${errors%% *}" -le 250 ] && [ "${errors##* }" -gt 400 ] ||
  fail "$errors are answered; the first 100 and then 20 a second should be"
echo "ok: errors are limited ($errors)"
stop

start "$root/conf/linux-router.click" MTU=1300
says "a packet that may not be cut" "From 10.0.1.1.*[Ff]rag.* needed.*mtu = 1300" in_h1 ping -c 1 -M "do" -s 1400 -W 2 10.0.2.2
says "IPv6: a packet that is too big" "From 2001:db8:1::1.*[Pp]acket too big: mtu=1300" in_h1 ping -6 -c 1 -M "do" -s 1400 -W 2 2001:db8:2::2
workers=1
transfer "$h1" "$h2" 10.0.2.2
transfer "$h1" "$h2" 2001:db8:2::2
says "the path's MTU was found" "mtu 1300" ip -n "$h1" route get 10.0.2.2

ip -n "$r" link set eth1 down
says "a link that is down" "0 received" in_h1 ping -c 1 -W 1 10.0.2.2
says "IPv6: the same" "0 received" in_h1 ping -6 -c 1 -W 1 2001:db8:2::2
ip -n "$r" link set eth1 up
says "a link that is up again" " [1-9] received" in_h1 ping -c 5 -i 0.5 -W 1 10.0.2.2
says "IPv6: the same" " [1-9] received" in_h1 ping -6 -c 5 -i 0.5 -W 1 2001:db8:2::2

ip -n "$r" link del eth1
says "an interface that vanishes" "0 received" in_h1 ping -c 1 -W 1 10.0.2.2
link "$h2" h2e 02:00:00:00:02:02 eth1 02:00:00:00:02:01
address "$h2" h2e 10.0.2.2/24 10.0.2.1 2001:db8:2::2/64 2001:db8:2::1
says "an interface that comes back" " [1-9] received" in_h1 ping -c 8 -i 0.5 -W 1 10.0.2.2
says "which is reported" "eth1 is back" cat "$work/log"
stop

# What the kernel refuses is explained.
says "an interface that does not exist" "nowhere0: looking it up: No such device; the interfaces here are .*eth0" \
  in_r "$clique" run -e 'FromDevice(nowhere0) -> Discard'
says "no permission" "Operation not permitted; run as root" \
  in_r setpriv --reuid 65534 --clear-groups "$clique" run -e 'FromDevice(eth0) -> Discard'
