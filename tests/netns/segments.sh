#!/usr/bin/env bash
# Hosts with the offloads that virtual links have by default: long segments come whole, are cut, and leave merged. No ethtool anywhere.
source "$(dirname "$0")/lib.sh"

offloads=default
build

# What one end sends and the other receives, as a digest each.
cat >"$work/transfer.py" <<'PY'
import hashlib, random, socket, sys
role, address, port, seed, bytes_ = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]), int(sys.argv[5])
family = socket.AF_INET6 if ":" in address else socket.AF_INET
digest = hashlib.sha256()
if role == "receive":
    server = socket.create_server((address, port), family=family)
    print("listening", flush=True)
    server.settimeout(30)
    peer = server.accept()[0]
    peer.settimeout(30)
    while piece := peer.recv(1 << 20):
        digest.update(piece)
else:
    peer = socket.create_connection((address, port), timeout=30)
    generator, left = random.Random(seed), bytes_
    while left > 0:
        # Pieces of many lengths: segments of all kinds.
        piece = generator.randbytes(min(left, generator.choice([1, 700, 3000, 20_000, 300_000, 1 << 20])))
        digest.update(piece)
        peer.sendall(piece)
        left -= len(piece)
    peer.close()
print(digest.hexdigest())
PY

# sent HOST: TCP segments that a host has sent, and how many of them again. Segments that are cut later count by their parts.
sent() { ip netns exec "$1" awk '/^Tcp:/ && ++n == 2 { print $12, $13 }' /proc/net/snmp; }

port=6000
transfer() { # WHAT FROM TO ADDRESS
  local what=$1 out=$work/received before after receiver digest
  port=$((port + 1))
  rm -f "$out"
  ip netns exec "$3" python3 "$work/transfer.py" receive "$4" $port 0 0 >"$out" &
  receiver=$!
  wait_for "$what: a receiver" grep -qs listening "$out" >/dev/null
  read -ra before <<<"$(sent "$2")"
  digest=$(ip netns exec "$2" timeout 60 python3 "$work/transfer.py" send "$4" $port $port "${bytes:-60000000}") || fail "$what: not sent"
  wait "$receiver" || fail "$what: not received"
  read -ra after <<<"$(sent "$2")"
  [ "$digest" = "$(tail -n 1 "$out")" ] || fail "$what: other bytes came than were sent"
  local segments=$((after[0] - before[0])) again=$((after[1] - before[1]))
  # A ring that is full for a moment costs a window.
  [ $((again * 50)) -le "$segments" ] || fail "$what: of $segments segments $again were sent again"
  echo "ok: $what ($segments segments, $again again)"
}

both_ways() { # WHAT
  transfer "$1: IPv4 there" "$h1" "$h2" 10.0.2.2
  transfer "$1: IPv4 back" "$h2" "$h1" 10.0.1.2
  transfer "$1: IPv6 there" "$h1" "$h2" 2001:db8:2::2
  transfer "$1: IPv6 back" "$h2" "$h1" 2001:db8:1::2
}

# of HANDLER: the sum over all elements that have it.
of() { ctl list | awk '/(From|To)Device/ { print $1 }' | while read -r name; do ctl read "$name.$1" 2>/dev/null || true; done | awk '{ n += $1 } END { print n + 0 }'; }
is_used() { # WHAT
  local segmented merged
  segmented=$(of segmented) merged=$(of merged)
  [ "$segmented" -gt 100 ] || fail "$1: only $segmented long segments came"
  [ "$merged" -gt 1000 ] || fail "$1: only $merged packets were merged"
  echo "ok: $1: $segmented long segments came, $merged packets were merged"
}

for workers in 1 2; do
  start -j"$workers" "$root/conf/linux-router.click"
  both_ways "a configuration of one's own, $workers workers"
  is_used "with $workers workers"
  stop
done

# UDP datagrams that a sender hands over by the forty.
datagrams() { # FROM TO ADDRESS
  ip netns exec "$2" python3 - "$3" >"$work/datagrams" <<'PY' &
import socket, sys
family = socket.AF_INET6 if ":" in sys.argv[1] else socket.AF_INET
peer = socket.socket(family, socket.SOCK_DGRAM)
peer.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4 << 20)
peer.bind((sys.argv[1], 7000))
peer.settimeout(10)
print("listening", flush=True)
got = [peer.recv(4000) for _ in range(10 * 40)]
print("whole" if got == [bytes([i, j]) * 500 for i in range(10) for j in range(40)] else "torn")
PY
  wait_for "UDP to $3: a receiver" grep -qs listening "$work/datagrams" >/dev/null
  ip netns exec "$1" python3 - "$3" <<'PY' || fail "UDP to $3: not sent"
import socket, sys
family = socket.AF_INET6 if ":" in sys.argv[1] else socket.AF_INET
peer = socket.socket(family, socket.SOCK_DGRAM)
peer.setsockopt(17, 103, 1000)  # UDP_SEGMENT
for i in range(10):
    peer.sendto(b"".join(bytes([i, j]) * 500 for j in range(40)), (sys.argv[1], 7000))
PY
  wait_for "UDP to $3: all datagrams, in order" grep -q whole "$work/datagrams"
}
start "$root/conf/linux-router.click"
before=$(of segmented)
datagrams "$h1" "$h2" 10.0.2.2
rm "$work/datagrams"
datagrams "$h2" "$h1" 2001:db8:1::2
[ $(($(of segmented) - before)) -ge 20 ] || fail "UDP: $(of segmented) long segments came"
stop

# What the hosts send in pieces of their own choice.
sed 's/ToDevice(\$device, /&GSO false, /' "$root/conf/linux-router.click" >"$work/cut.click"
start "$work/cut.click"
transfer "cut and not merged" "$h1" "$h2" 10.0.2.2
[ "$(of merged)" = 0 ] || fail "GSO false, and packets are merged"
stop

# Where the far side has a smaller MTU, the sender learns of it, and segments are as long as that.
ip -n "$h2" link set h2e mtu 1300
start "$root/conf/linux-router.click" MTU=1300
transfer "a smaller MTU" "$h1" "$h2" 10.0.2.2
transfer "a smaller MTU, IPv6" "$h1" "$h2" 2001:db8:2::2
stop
ip -n "$h2" link set h2e mtu 1500
for name in "$h1" "$h2"; do ip -n "$name" route flush cache; done

# With translated addresses, the headers of each packet are other ones, and its checksum as well.
start -j2 "$root/conf/nat.click" IN=eth0 INSIDE=10.0.1.1/24 OUT=eth1 OUTSIDE=10.0.2.1/24 PROVIDER=10.0.2.2 WEB=10.0.1.2
transfer "translated" "$h1" "$h2" 10.0.2.2
is_used "translated"
stop

kernel_has_addresses
in_r sysctl -qw net.ipv4.ip_forward=1 net.ipv6.conf.all.forwarding=1
launch --from-host -u "$work/socket"
both_ways "--from-host"
is_used "--from-host"
says "how frames come" "packet socket with long segments" ctl read "$(ctl list | awk '/FromDevice/ { print $1; exit }').mode"
stop

# This machine's kernel behind a TAP interface, which gets long segments and hands them over.
for i in 0 1; do ip -n "$r" addr flush dev eth$i; done
in_r sysctl -qw net.ipv4.ip_forward=0 net.ipv6.conf.all.forwarding=0
launch -u "$work/socket" -e 'FromDevice(eth0, SNIFFER false) -> to :: ToHost(fake0);
  from :: FromHost(fake0, 10.0.1.1/24, ETHER 02:00:00:00:01:01) -> ToDevice(eth0)'
in_r sysctl -qw net.ipv6.conf.fake0.disable_ipv6=0
ip -n "$r" addr add 2001:db8:1::1/64 dev fake0 nodad
transfer "to a TAP interface, IPv4" "$h1" "$r" 10.0.1.1
transfer "to a TAP interface, IPv6" "$h1" "$r" 2001:db8:1::1
transfer "from a TAP interface, IPv4" "$r" "$h1" 10.0.1.2
transfer "from a TAP interface, IPv6" "$r" "$h1" 2001:db8:1::2
[ "$(ctl read to.merged)" -gt 1000 ] || fail "to the TAP interface: $(ctl read to.merged) packets were merged"
[ "$(ctl read from.segmented)" -gt 100 ] || fail "from the TAP interface: $(ctl read from.segmented) long segments came"
stop

# A segment of a kind that Linux has no note for: its ring would take nothing more.
cat >"$work/tap.py" <<'PY'
import fcntl, os, struct, subprocess, sys, time
tap = os.open("/dev/net/tun", os.O_RDWR)
fcntl.ioctl(tap, 0x400454CA, struct.pack("16sH22x", b"tap7", 0x2 | 0x1000 | 0x4000))
subprocess.run(["ip", "link", "set", "tap7", "up"], check=True)
print("up", flush=True)
def frame(length):
    ip = struct.pack(">BBHHHBBH4s4s", 0x45, 0, 28 + length, 1, 0, 64, 17, 0, bytes([10, 9, 0, 1]), bytes([10, 9, 0, 2]))
    return bytes([2, 0, 0, 0, 0, 7, 2, 0, 0, 0, 0, 8, 8, 0]) + ip + struct.pack(">HHHH", 7, 7, 8 + length, 0) + bytes(length)
plain = struct.pack("BBHHHH", 0, 0, 0, 0, 0, 0)
odd = struct.pack("BBHHHH", 1, 3, 42, 1480, 34, 6)  # UDP to be cut into IP fragments
for line in sys.stdin:
    os.write(tap, odd + frame(4000) if line.strip() == "odd" else plain + frame(100))
PY
mkfifo "$work/words"
in_r python3 "$work/tap.py" <"$work/words" >"$work/tap" &
exec 7>"$work/words"
wait_for "a TAP interface" grep -qs up "$work/tap"
launch -u "$work/socket" -e 'FromDevice(tap7) -> k :: Classifier(23/11, -) -> c :: Counter -> Discard; k[1] -> Discard' 2>/dev/null
echo plain >&7
wait_for "a frame comes" at_least c.count 1
echo odd >&7
before=$(ctl read c.count)
comes_again() { echo plain >&7; sleep 0.3; at_least c.count $((before + 3)); }
wait_for "frames come after a segment of an unknown kind" comes_again
says "which is said" "lost its place in the receive ring" cat "$work/log"
exec 7>&-
stop 4
