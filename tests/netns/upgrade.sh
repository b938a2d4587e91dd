#!/usr/bin/env bash
# Another program takes over a router that translates addresses, while pings, numbered datagrams and a TCP connection pass: none of them is
# lost. One that fails after it was handed over to gives the router back, and again nothing is lost. A TAP interface stays.
source "$(dirname "$0")/lib.sh" python3

build
cp "$clique" "$work/other"
start -j2 -R "$root/conf/nat.click" IN=eth0 INSIDE=10.0.1.1/24 OUT=eth1 OUTSIDE=10.0.2.1/24 PROVIDER=10.0.2.2 WEB=10.0.1.2
in_h2 python3 "$root/tests/netns/echo.py" serve 7000 >"$work/seen" &
in_h2 python3 - >"$work/counted" <<'PY' &
import socket, time
receiver = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
receiver.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 22)
receiver.bind(("10.0.2.2", 9999))
receiver.settimeout(0.2)
seen, again, last = set(), 0, time.time() + 30
while time.time() < last:
    try:
        number, sender = receiver.recvfrom(100)
    except TimeoutError:
        if seen and time.time() > quiet:
            break
        continue
    quiet = time.time() + 3
    again += number in seen
    seen.add(number)
print(f"{len(seen)} arrived, {again} again, from {sender[0]}", flush=True)
PY
counter=$!
wait_for "a server of datagrams" bash -c "ip netns exec '$h2' ss -lun | grep -q :9999"
wait_for "a server" bash -c "ip netns exec '$h2' ss -ltn | grep -q :7000"
in_h1 ping -q -i 0.005 -c 1200 -W 2 10.0.2.2 >"$work/pings" &
pings=$!
in_h1 python3 "$root/tests/netns/echo.py" hold 10.0.2.2 7000 "$work/end" >"$work/held" &
held=$!
# A thousand datagrams a second for six seconds, from one port.
in_h1 python3 - <<'PY' &
import socket, time
sender, start = socket.socket(socket.AF_INET, socket.SOCK_DGRAM), time.time()
for number in range(6000):
    sender.sendto(b"%d" % number, ("10.0.2.2", 9999))
    time.sleep(max(0, start + number / 1000 - time.time()))
PY
wait_for "a connection" bash -c "\"$clique\" ctl -u '$work/socket' read rw.tcp_table | grep -q '10.0.2.2, 7000'"
table() { ctl read rw.tcp_table | sed 's/ *\[.*//; s/ exp.*//'; }
before=$(table)
upgrade() { "$clique" upgrade -u "$work/socket" "$@"; }
for program in "$work/other" "$clique" "$work/other"; do
  says "another program takes over" "nothing was forwarded for" upgrade "$program"
  sleep 0.5
done
# It is what it says as long as it is tried.
cat >"$work/impostor" <<SCRIPT
#!/bin/sh
[ "\$1" != try-hand-over ] || exec $clique "\$@"
exec $clique run --no-such-option
SCRIPT
chmod +x "$work/impostor"
says "one that fails gives back" "the one before goes on, with its state" upgrade "$work/impostor"
says "the one before runs" "/other$" readlink "/proc/$router/exe"
says "a stranger is refused" "has not answered" upgrade /bin/true
[ "$(table)" = "$before" ] || fail "translations: '$(table)', '$before' before"
wait "$pings"
says "no ping is lost" "1200 received, 0% packet loss" cat "$work/pings"
wait "$counter"
says "each datagram arrives once" "^6000 arrived, 0 again, from 10.0.2.1$" cat "$work/counted"
touch "$work/end"
wait "$held"
says "nothing of the connection is lost" "^[1-9][0-9]+ good, 0 bad" cat "$work/held"
stop

launch -R -u "$work/socket" -e 'tap :: KernelTap(10.9.9.1/24, DEV_NAME upg0) -> Discard; Idle -> tap'
ip -n "$r" addr add 10.9.8.1/24 dev upg0
index=$(in_r cat /sys/class/net/upg0/ifindex)
says "a router with a TAP interface" "nothing was forwarded for" upgrade
says "the interface is the same" "^$index$" in_r cat /sys/class/net/upg0/ifindex
says "it has the address that it was given" "10.9.8.1" ip -n "$r" addr show dev upg0
