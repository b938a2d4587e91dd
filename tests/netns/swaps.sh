#!/usr/bin/env bash
# Hot swaps on two workers while packets pass: each arrives once, whichever workers the elements are on before and after.
source "$(dirname "$0")/lib.sh" python3

build
ip -n "$h1" neigh replace 10.0.1.1 lladdr 02:00:00:00:01:01 dev h1e

# path ARGUMENTS BRANCH: from one host to the other.
path() {
  echo "FromDevice(eth0, PROTOCOL 0x0800$1) -> t :: Tee -> EtherRewrite(02:00:00:00:02:01, 02:00:00:00:02:02) -> ToDevice(eth1); $2"
}
both=$(path "" "")
# ToDump is on one worker, and so is what leads there.
one=$(path "" "t[1] -> ToDump($work/dump)")
pinned=$(path "" "StaticThreadSched(FromDevice@1 1)")
# Another socket.
other=$(path ", SNAPLEN 1000" "")

# UDP of many flows, so that each worker has some: a thousand packets a second for three seconds.
send() {
  ip netns exec "$h1" python3 - <<'PY'
import socket, time
sockets = [socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(64)]
start = time.time()
for number in range(3000):
    sockets[number % 64].sendto(b"%d" % number, ("10.0.2.2", 9999))
    time.sleep(max(0, start + number / 1000 - time.time()))
PY
}

# How many of them arrive, and how many once more.
count() {
  ip netns exec "$h2" python3 - <<'PY'
import socket, sys, time
receiver = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
receiver.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 22)
receiver.bind(("10.0.2.2", 9999))
receiver.settimeout(0.2)
seen, again, end = set(), 0, time.time() + 5.5
while time.time() < end:
    try:
        number = receiver.recv(100)
    except TimeoutError:
        continue
    again += number in seen
    seen.add(number)
print(f"{len(seen)} arrived, {again} again")
PY
}

# passes WHAT EXPECTED FIRST NEXT...: swaps from one configuration to the next every half second.
passes() {
  local what=$1 expected=$2 sender counter
  launch -j2 -R -u "$work/socket" -e "$3"
  shift 3
  count >"$work/counted" &
  counter=$!
  sleep 0.3
  send &
  sender=$!
  for next; do
    sleep 0.5
    ctl write hotconfig "$next" || fail "$what: refused"
  done
  wait "$sender" "$counter"
  says "$what" "$expected" cat "$work/counted"
  # A file, or the packet socket of another worker: what had several goes on with all of them.
  stop 2
}

passes "no swap" "^3000 arrived, 0 again" "$both"
passes "the same" "^3000 arrived, 0 again" "$both" "$both" "$both"
passes "two workers, one, two" "^3000 arrived, 0 again" "$both" "$one" "$both" "$one"
passes "one worker, two, one" "^3000 arrived, 0 again" "$one" "$both" "$one" "$both"
passes "another worker" "^3000 arrived, 0 again" "$one" "$pinned" "$both" "$pinned"
# Two sockets get each packet for a moment, or none does.
passes "another socket" "^(3000|299[0-9]) arrived, 0 again" "$both" "$other" "$both"
