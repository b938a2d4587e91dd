#!/usr/bin/env bash
# conf/nat64.click between a host that has IPv6 only and one that has IPv4 only: pings, also in fragments, TCP both ways with digests, traceroute, errors, and
# path MTUs that are smaller on either side. A flood from one prefix leaves room for hosts of others.
source "$(dirname "$0")/lib.sh"

build
ip -n "$h1" addr del 10.0.1.2/24 dev h1e
in_h2 sysctl -qw net.ipv6.conf.h2e.disable_ipv6=1
ip -n "$h2" route del default # it knows the gateway's address only
server=64:ff9b::10.0.2.2
arguments=(IN=eth0 INSIDE=2001:db8:1::1/64 OUT=eth1 OUTSIDE=10.0.2.1/24 PROVIDER=10.0.2.2)
launch -R -u "$work/socket" -j2 "$root/conf/nat64.click" "${arguments[@]}"

wait_for "a ping" in_h1 ping -c 1 -W 1 "$server"
says "pings" " 0% packet loss" in_h1 ping -c 3 -i 0.2 -W 1 "$server"
says "pings in fragments on both sides" " 0% packet loss" in_h1 ping -c 3 -i 0.2 -W 1 -s 4000 "$server"
says "the gateway answers" " 0% packet loss" in_h1 ping -c 1 -W 1 2001:db8:1::1
says "a traceroute" "2  64:ff9b::a00:202" in_h1 traceroute -6 -n -q 1 -w 1 "$server"
says "with the gateway as its first hop" "1  2001:db8:1::1" in_h1 traceroute -6 -n -q 1 -w 1 "$server"
connects() { timeout 3 python3 -c "import socket; s = socket.create_connection(('$1', $2), 2); s.sendall(b'hello'); print(s.recv(5))" 2>&1; }
export -f connects
in_h2 python3 "$root/tests/netns/echo.py" serve 7000 >"$work/seen" &
wait_for "a connection" in_h1 bash -c "connects $server 7000 | grep -q hello"
says "it has the gateway's address outside" "10.0.2.1$" cat "$work/seen"
says "an error about a packet" "Connection refused" in_h1 bash -c "connects $server 7001"
says "flows by their IPv6 addresses" "tcp 2001:db8:1::2 [0-9]+ 64:ff9b::a00:202 7000 > 10.0.2.1 [0-9]+ 10.0.2.2 7000" ctl read nat64.flows tcp

# A file there and back: the server answers with what it has received.
head -c 3000000 /dev/urandom >"$work/file"
cat >"$work/copy.py" <<'PY'
import hashlib, socket, sys, threading
data = open(sys.argv[3], "rb").read()
with socket.create_connection((sys.argv[1], int(sys.argv[2])), 3) as connection:
    connection.settimeout(10)
    threading.Thread(target=lambda: (connection.sendall(data), connection.shutdown(socket.SHUT_WR)), daemon=True).start()
    back = b"".join(iter(lambda: connection.recv(65536), b""))
print(hashlib.sha256(data).digest() == hashlib.sha256(back).digest(), len(back))
PY
copies() { in_h1 python3 "$work/copy.py" "$server" 7000 "$work/file"; }
says "a file there and back" "True 3000000" copies

# Less fits on the side of IPv6 than the server thinks, and on the side of IPv4 than the host thinks. Both are told; flows outlive the swap.
cat "$root/conf/nat64.click" >"$work/small.click"
in_h1 python3 "$root/tests/netns/echo.py" hold "$server" 7000 "$work/end" >"$work/held" &
held=$!
wait_for "a connection is held" bash -c "\"$clique\" ctl -u '$work/socket' read nat64.count tcp state established | grep -q '[1-9]'"
sed -i 's/\$MTU6 1500, \$MTU4 1500/$MTU6 1400, $MTU4 1300/' "$work/small.click"
for argument in "${arguments[@]}"; do
  name=${argument%%=*} value=${argument#*=}
  sed -i "0,/\\\$$name [^,)]*/s|\\\$$name [^,)]*|\$$name $value|" "$work/small.click"
done
ctl write hotconfig "$(cat "$work/small.click")" >/dev/null || fail "the other configuration is refused"
says "a file by a narrow path" "True 3000000" copies
says "the server knows what fits" "mtu 1380" in_h2 ip route get 10.0.2.1
says "the host knows what fits" "mtu 1320" in_h1 ip -6 route get "$server"
sleep 0.3
touch "$work/end"
wait "$held"
says "none of its packets is lost" "^[1-9][0-9]+ good, 0 bad" cat "$work/held"
stop 4 # another configuration has run

# A flood from random addresses of one prefix, of connections that none answers, takes no room from hosts of another: neither from a connection that exists,
# nor from hosts that come while the flood lasts.
launch -R -u "$work/socket" -j2 "$root/conf/nat64.click" "${arguments[@]}" FLOWS=300 QUOTA=50
ip -n "$h1" addr add 2001:db8:1::77/64 dev h1e nodad
rm "$work/end"
in_h1 python3 "$root/tests/netns/echo.py" hold "$server" 7000 "$work/end" >"$work/held" &
held=$!
wait_for "a connection is held" bash -c "\"$clique\" ctl -u '$work/socket' read nat64.count tcp state established | grep -q '[1-9]'"
mac=$(in_r cat /sys/class/net/eth0/address)
on_their_way=300 # what was let through waits for a host that is not there
in_h1 python3 "$root/tests/netns/flood.py" h1e "$mac" syn6 64:ff9b::10.0.2.99 1000 4 >/dev/null &
flood=$!
wait_for "the flood is refused" at_least nat64.quota_refusals 500
connects_from() { timeout 3 python3 -c "import socket; s = socket.create_connection(('$2', $3), 2, ('$1', 0)); s.sendall(b'hello'); print(s.recv(5))" 2>&1; }
export -f connects_from
says "a host that comes meanwhile" "hello" in_h1 bash -c "connects_from 2001:db8:1::77 $server 7000"
wait "$flood"
says "the prefix has no more flows than it may" "^(4[0-9]|5[0-5])$" ctl read nat64.count src 2001:db8:f::/64
says "hosts without flows take no numbers" "^[1-6]?[0-9]$" ctl read nat64.hosts
touch "$work/end"
wait "$held"
says "none of the connection's packets is lost" "^[1-9][0-9]+ good, 0 bad" cat "$work/held"
