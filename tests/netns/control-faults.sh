#!/usr/bin/env bash
# A peer that tells Clique of routes, or asks it, may hang, stop in the middle of a sentence or talk nonsense; so may Clique's own control
# threads: no packet is lost. About 15 s.
source "$(dirname "$0")/lib.sh" python3

build
kernel_has_addresses
launch -j2 -u "$work/socket" "$root/conf/frr-router.click"
ctl write routes.ctrl "set 10.0.1.0/24 - 1
set 10.0.2.0/24 - 2" >/dev/null
says "forwarding" "[1-9] received" in_h1 ping -c 3 -i 0.3 -W 2 10.0.2.2
threads() { sort "/proc/$router/task/"*/comm | uniq -c; }
says "a thread takes in routes" " routes$" threads

# speak SECONDS PYTHON: a connection to the FPM port that says something and stays for a while.
speak() {
  in_r python3 - "$@" <<'PYTHON'
import socket, struct, sys, time
connection = socket.create_connection(("127.0.0.1", 2620))
connection.sendall(eval(sys.argv[2]))
time.sleep(float(sys.argv[1]))
PYTHON
}
half_a_message() {
  speak 2 'b"\x01\x01\x00\x40" + bytes(9)' &
  local peer=$!
  wait_for "zebra is connected" stat_is fpm connected 1
  wait $peer
  wait_for "and has gone" stat_is fpm connected 0
}
lossless "a peer stops in the middle of a message" 10.0.2.2 half_a_message

nonsense() { for _ in 1 2 3; do speak 0.1 'b"GET / HTTP/1.1\r\n\r\n"'; done; }
lossless "peers talk nonsense" 10.0.2.2 nonsense

# A client asks for everything, again and again, and reads nothing; another begins a command.
python3 - "$work/socket" <<'PYTHON' &
import socket, sys, time
greedy, slow = (socket.socket(socket.AF_UNIX) for _ in range(2))
for connection in greedy, slow:
    connection.connect(sys.argv[1])
slow.sendall(b"READ rou")
greedy.settimeout(1)
try:
    while True:
        greedy.sendall(b"READ flatconfig\r\n" * 100)
except TimeoutError:
    pass
time.sleep(2)
PYTHON
askers=$!
lossless "a client asks and does not read the answers" 10.0.2.2 sleep 3
wait $askers

# A control thread hangs: it is stopped from outside, in whatever it was doing, while routes are on their way.
flood() { # COUNT of routes
  exec ip netns exec "$r" python3 - "$1" <<'PYTHON'
import socket, struct, sys, time
def route(i):
    body = struct.pack("=8BI", 2, 24, 0, 0, 254, 186, 0, 1, 0)
    body += struct.pack("=HH4s", 8, 1, bytes([20, i >> 8 & 255, i & 255, 0]))
    body += struct.pack("=HHI", 8, 4, socket.if_nametoindex("eth1")) + struct.pack("=HH4s", 8, 5, bytes([10, 0, 2, 2]))
    message = struct.pack("=IHHII", 16 + len(body), 24, 0, 0, 0) + body
    return struct.pack("!BBH", 1, 1, 4 + len(message)) + message
connection = socket.create_connection(("127.0.0.1", 2620))
connection.sendall(b"".join(map(route, range(int(sys.argv[1])))))
time.sleep(60)
PYTHON
}
hang() {
  flood 20000 &
  local peer=$!
  WAIT=60 wait_for "routes are on their way" at_least routes.length 100
  says "the thread that takes them in hangs" " of routes stood still" python3 "$(dirname "$0")/freeze.py" "$router" routes 3
  WAIT=60 wait_for "it goes on where it was" at_least routes.length 20000
  kill $peer 2>/dev/null || true
}
lossless "the thread that takes in routes hangs" 10.0.2.2 hang

# Or it ends in an error of the program, whatever it was doing: it begins anew, and what zebra tells then arrives.
panic() {
  flood 20000 &
  local peer=$!
  WAIT=60 wait_for "zebra is connected again" stat_is fpm connected 1
  for round in 1 2 3; do
    ctl write fpm.panic ""
    WAIT=60 wait_for "the thread ended $round times, and began anew" stat_is fpm restarts $round
  done
  kill $peer 2>/dev/null || true
  flood 30000 &
  peer=$!
  WAIT=60 wait_for "zebra tells everything again" stat_is fpm connected 1
  WAIT=60 wait_for "all routes are there, also new ones" at_least routes.length 30000
  ctl write addresses.panic ""
  wait_for "the thread that reads the kernel's began anew, too" stat_is addresses restarts 1
  kill $peer 2>/dev/null || true
}
lossless "the threads that take in routes panic" 10.0.2.2 panic
stop
