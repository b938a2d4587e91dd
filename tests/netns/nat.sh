#!/usr/bin/env bash
# conf/nat.click between a private network and a provider: connections and pings from inside, the web server from outside, and a flood of
# SYNs to that, which takes nothing from connections that exist. Errors go both ways, and so do datagrams and pings in fragments.
source "$(dirname "$0")/lib.sh"

build
ip -n "$h2" route del default # the provider knows the gateway's public address only
ip -n "$h2" route add 198.18.0.0/15 dev h2e
start -j2 "$root/conf/nat.click" IN=eth0 INSIDE=10.0.1.1/24 OUT=eth1 OUTSIDE=10.0.2.1/24 PROVIDER=10.0.2.2 WEB=10.0.1.2 FLOWS=300
in_h1 python3 "$root/tests/netns/echo.py" serve 80 >"$work/web" &
in_h2 python3 "$root/tests/netns/echo.py" serve 7000 >"$work/seen" &
connects() { timeout 3 python3 -c "import socket; s = socket.create_connection(('$1', $2), 2); s.sendall(b'hello'); print(s.recv(5))" 2>&1; }
export -f connects

says "a ping from inside" " 0% packet loss" in_h1 ping -c 3 -i 0.2 -W 1 10.0.2.2
says "pings in fragments from inside" " 0% packet loss" in_h1 ping -c 3 -i 0.2 -W 1 -s 3000 10.0.2.2
says "pings in fragments of the gateway, from inside" " 0% packet loss" in_h1 ping -c 3 -i 0.2 -W 1 -s 3000 10.0.1.1
says "pings in fragments of the gateway, from outside" " 0% packet loss" in_h2 ping -c 3 -i 0.2 -W 1 -s 3000 10.0.2.1
wait_for "a connection from inside" in_h1 bash -c "connects 10.0.2.2 7000 | grep -q hello"
says "it has the public address outside" "10.0.2.1$" cat "$work/seen"
says "the web server from outside" "hello" in_h2 bash -c "connects 10.0.2.1 80"
says "the same by the public address from inside" "hello" in_h1 bash -c "connects 10.0.2.1 80"
says "under the public address" "10.0.2.1$" cat "$work/web"
says "an error about a known packet" "Connection refused" in_h1 bash -c "connects 10.0.2.2 7001"
in_h2 timeout 5 python3 -c "
import socket, time
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.bind(('', 9000))
s.connect(s.recvfrom(100)[1])
time.sleep(0.3)
s.send(b'answer')
try: s.recv(100)
except OSError as error: print(s.getpeername()[0], error.strerror)" >"$work/refused" &
refused=$!
wait_for "a server of datagrams" bash -c "ip netns exec '$h2' ss -lun | grep -q :9000"
in_h1 python3 -c "import socket; socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'ask', ('10.0.2.2', 9000))"
wait "$refused" || true
says "an error from a host inside that listens no more" "10.0.2.1 Connection refused" cat "$work/refused"
in_h2 timeout 10 python3 -c "
import socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.bind(('', 9001))
while True: s.sendto(*s.recvfrom(4000))" &
wait_for "a server that echoes datagrams" bash -c "ip netns exec '$h2' ss -lun | grep -q :9001"
says "datagrams in fragments, there and back" "10 of 10" in_h1 timeout 5 python3 -c "
import os, socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.settimeout(1)
s.connect(('10.0.2.2', 9001))
good = 0
for data in (os.urandom(3000) for _ in range(10)):
    s.send(data)
    try: good += s.recv(4000) == data
    except TimeoutError: pass
print(good, 'of 10')"
says "another port from outside" "timed out" in_h2 bash -c "connects 10.0.2.1 7000"

in_h1 python3 "$root/tests/netns/echo.py" hold 10.0.2.2 7000 "$work/end" >"$work/held" &
held=$!
wait_for "a connection is held" bash -c "\"$clique\" ctl -u '$work/socket' read rw.tcp_table | grep -q '10.0.2.2, 7000.*exp86'"
mac=$(in_r cat /sys/class/net/eth1/address)
in_h2 python3 "$root/tests/netns/flood.py" h2e "$mac" syn 10.0.2.1 2000 3 >/dev/null
sleep 0.3
touch "$work/end"
wait "$held"
says "none of its packets is lost" "^[1-9][0-9]+ good, 0 bad" cat "$work/held"
says "the connections that the flood could not make are counted" "^[1-9][0-9]{2,}" ctl read rw.mapping_failures
