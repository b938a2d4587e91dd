#!/usr/bin/env bash
# conf/firewall.click between a host inside and one outside: answers come in without a rule, strangers do not, and a flood of SYNs that a rule
# lets pass takes nothing from connections that exist.
source "$(dirname "$0")/lib.sh"

build
# One network; what is inside has the upper half of it.
for host in "$h1 h1e 80" "$h2 h2e 1"; do
  read -r name interface number <<<"$host"
  ip -n "$name" addr flush dev "$interface" scope global
  ip -n "$name" addr add "192.0.2.$number/24" dev "$interface"
done
ip -n "$h1" addr add 2001:db8:2::80/64 dev h1e nodad
ip -n "$h2" addr add 2001:db8:2::1:1/64 dev h2e nodad

run() { launch -j2 -u "$work/socket" "$root/conf/firewall.click" IN=eth0 OUT=eth1 NET4=192.0.2.64/26 NET6=2001:db8:2::/112 FLOWS=300; }
run
in_h1 python3 "$root/tests/netns/echo.py" serve 80 >/dev/null &
in_h2 python3 "$root/tests/netns/echo.py" serve 7000 >/dev/null &
connects() { timeout 3 python3 -c "import socket; s = socket.create_connection(('$1', $2), 2); s.sendall(b'hello'); print(s.recv(5))" 2>&1; }
export -f connects

wait_for "a connection from inside" in_h1 bash -c "connects 192.0.2.1 7000 | grep -q hello"
says "IPv6: the same" "hello" in_h1 bash -c "connects 2001:db8:2::1:1 7000"
says "a ping from inside" " 0% packet loss" in_h1 ping -c 3 -i 0.2 -W 1 192.0.2.1
says "IPv6: the same" " 0% packet loss" in_h1 ping -6 -c 3 -i 0.2 -W 1 2001:db8:2::1:1
says "an error about a known packet" "Connection refused" in_h1 bash -c "connects 192.0.2.1 7001"
says "the web server from outside" "hello" in_h2 bash -c "connects 192.0.2.80 80"
says "IPv6: the same" "hello" in_h2 bash -c "connects 2001:db8:2::80 80"
says "another port from outside" "timed out" in_h2 bash -c "connects 192.0.2.80 7000"
says "a ping from outside" " 100% packet loss" in_h2 ping -c 1 -W 1 192.0.2.80
says "connections are listed" "tcp 192.0.2.80 [0-9]+ 192.0.2.1 7000 TIME_WAIT assured" ctl read ct.flows dport 7000
says "and counted" "^ct.[1-9]" ctl flows -c tcp dst 192.0.2.1
says "as JSON, too" '"destination":"192.0.2.1".*"dport":7000' ctl --json flows tcp dport 7000
"$clique" ctl -u "$work/socket" flows --watch >"$work/events" &
watch=$!
sleep 1.2 # the sweep of each second looks who listens
in_h1 ping -q -c 1 -W 1 192.0.2.1 >/dev/null
ctl flows --kill icmp >/dev/null
wait_for "and watched" grep -q "flow killed ct icmp 192.0.2.80" "$work/events"
kill "$watch"
says "new ones, too" "^flow new ct icmp 192.0.2.80" cat "$work/events"

# An established connection, and a thousand SYNs a second for a table of 300.
in_h1 python3 "$root/tests/netns/echo.py" hold 192.0.2.1 7000 "$work/end" >"$work/held" &
held=$!
wait_for "a connection is held" bash -c "\"$clique\" ctl -u '$work/socket' read ct.count state established assured | grep -q '^1$'"
mac=$(in_h1 cat /sys/class/net/h1e/address)
in_h2 python3 "$root/tests/netns/flood.py" h2e "$mac" syn 192.0.2.80 2000 3 >/dev/null
sleep 0.3
touch "$work/end"
wait "$held"
says "none of its packets is lost" "^[1-9][0-9]+ good, 0 bad" cat "$work/held"
says "half-open connections gave way" "^[1-9][0-9]{2,}.connections evicted" ctl read ct.counters
says "the table has its limit" "^(2[0-9][0-9]|300)$" ctl read ct.count
says "what is refused is counted by rule" "^[1-9].*7: 1 all" ctl read from_outside.rule_packets
