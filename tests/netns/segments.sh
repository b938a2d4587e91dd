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

kernel_has_addresses
in_r sysctl -qw net.ipv4.ip_forward=1 net.ipv6.conf.all.forwarding=1
launch --from-host -u "$work/socket"
both_ways "--from-host"
is_used "--from-host"
says "how frames come" "packet socket with long segments" ctl read "$(ctl list | awk '/FromDevice/ { print $1; exit }').mode"
stop
