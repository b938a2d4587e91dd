#!/usr/bin/env bash
# Four faults in a router between two networks, each found by what an operator has: trace, explain and drops.
source "$(dirname "$0")/lib.sh"

build
# A filter as an operator may have left it.
sed 's/IPFilter(deny src net 0/IPFilter(deny udp and dst port 81, deny src net 0/' "$root/conf/linux-router.click" >"$work/router.click"
launch -u "$work/socket" "$work/router.click" MTU=1400
ask() { "$clique" "$1" -u "$work/socket" "${@:2}"; }

# shows WHAT PATTERN FILE
shows() { grep -Eq "$2" "$3" || { cat "$3"; fail "$1: no '$2'"; }; echo "ok: $1"; }

# found NAME FILTER PATTERN QUESTION PATTERN COMMAND...: what trace says of the packets of a command, and explain of the same packet.
found() {
  ask trace "$2" -n 1 --seconds 8 >"$work/trace" 2>&1 &
  local tracer=$!
  sleep 0.3
  in_h1 "${@:6}" >/dev/null 2>&1 || true
  wait $tracer || { cat "$work/trace"; fail "$1: trace"; }
  shows "$1: trace" "$3" "$work/trace"
  ask explain "$4" >"$work/explained" 2>&1 || { cat "$work/explained"; fail "$1: explain"; }
  shows "$1: explain" "$5" "$work/explained"
}
# refused NAME PATTERN EXAMPLE: what drops says, in a line of a reason, and the packet below it. A neighbour is given up after some seconds only.
refused() {
  for _ in $(seq 15); do
    ask drops >"$work/drops" 2>&1 || { cat "$work/drops"; fail "$1: drops"; }
    ! grep -E -A1 "$2" "$work/drops" | grep -Eq "for instance: $3" || { echo "ok: $1: drops"; return; }
  done
  cat "$work/drops"
  fail "$1: drops: no '$2' with '$3'"
}
udp() { echo "import socket; s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.sendto(b'x' * 20, ('$1', $2))"; }

wait_for "the router forwards" in_h1 ping -c 1 -W 1 10.0.2.2
found "a missing route" "dst host 10.9.9.9" "no route for 10.9.9.9" \
  "icmp 10.0.1.2 > 10.9.9.9 in eth0" "no route for 10.9.9.9" ping -c 1 -W 1 10.9.9.9
refused "a missing route" "ICMPError.*network unreachable \(senders told by ICMP\)" "icmp 10.0.1.2 > 10.9.9.9"
found "a rule that drops" "udp and dst host 10.0.2.2" "rule 1, 'deny udp and dst port 81'|DROPPED: filtered" \
  "udp 10.0.1.2:5 > 10.0.2.2:81 in eth0" "rule 1, 'deny udp and dst port 81'.*DROPPED: filtered" python3 -c "$(udp 10.0.2.2 81)"
refused "a rule that drops" "IPFilter.*filtered$" "udp 10.0.1.2:[0-9]+ > 10.0.2.2:81"
found "an MTU that is too small" "icmp and dst host 10.0.2.2" "1478 bytes are more than the MTU, 1400" \
  "icmp 10.0.1.2 > 10.0.2.2 in eth0 len 1478 df" "1478 bytes are more than the MTU, 1400" ping -c 1 -W 1 -M do -s 1450 10.0.2.2
refused "an MTU that is too small" "large.*fragmentation needed and DF set \(senders told by ICMP\)" "icmp 10.0.1.2 > 10.0.2.2"
found "a neighbour that does not answer" "dst host 10.0.2.77" "neighbour 10.0.2.77 (is not known|has been asked|does not answer)" \
  "icmp 10.0.1.2 > 10.0.2.77 in eth0" "neighbour 10.0.2.77 (is not known|has been asked|does not answer)" ping -c 1 -W 1 10.0.2.77
refused "a neighbour that does not answer" "no_host.*host unreachable \(senders told by ICMP\)" "icmp 10.0.1.2 > 10.0.2.77"

# The same before it runs: what the arguments say, where the interfaces are.
in_r "$clique" explain -c "$work/router.click" "udp 10.0.1.2:5 > 10.0.2.2:81 in eth0" MTU=1400 >"$work/explained" 2>&1 || true
shows "a configuration that does not run" "rule 1, 'deny udp and dst port 81'.*DROPPED: filtered" "$work/explained"

# What crosses an edge, as a file.
ask capture 'p0/to' -n 2 --seconds 8 --filter icmp -w "$work/edge.pcapng" 2>"$work/captured" &
capture=$!
sleep 0.3
in_h1 ping -c 2 -i 0.2 -W 1 10.0.2.2 >/dev/null
wait $capture
shows "a capture" "^2 packets captured, 0 lost" "$work/captured"
[ "$(od -An -tx4 -N4 "$work/edge.pcapng" | tr -d ' ')" = 0a0d0d0a ] || fail "no pcapng"
if command -v tshark >/dev/null; then
  [ "$(tshark -r "$work/edge.pcapng" 2>/dev/null | grep -c 'ICMP')" = 2 ] || fail "tshark reads something else"
fi
stop
