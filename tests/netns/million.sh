#!/usr/bin/env bash
# MILLION routes (default: that many) are replaced one after the other, while packets flow: none is lost. RATE packets a second (default 2000) are
# moderate for a router that was not optimised; say CLIQUE=target/release/clique RATE=100000 for more. About a minute; CI replaces fewer.
source "$(dirname "$0")/lib.sh" python3

routes=${MILLION:-1000000} rate=${RATE:-2000}
[ "$routes" -ge 131072 ] || fail "MILLION is at least 131072, the destinations of the traffic"

build
start -j2 -u "$work/socket" "$root/conf/linux-router.click"
ip -n "$h2" addr add 10.0.2.3/24 dev h2e
in_h2 sysctl -qw net.ipv4.ip_forward=0

# replace GATEWAY: all routes lead to this neighbour from now on. The table is told of 64 at a time, as FPMServer does.
replace() {
  python3 - "$work/socket" "$routes" "$1" <<'PYTHON'
import socket, sys
connection = socket.socket(socket.AF_UNIX)
connection.connect(sys.argv[1])
replies = connection.makefile("rb")
replies.readline()
count, gateway = int(sys.argv[2]), sys.argv[3]
for start in range(0, count, 64):
    each = range(start, min(start + 64, count))
    lines = "".join(f"set {32 + (i >> 16)}.{i >> 8 & 255}.{i & 255}.0/24 {gateway} 2\n" for i in each).encode()
    connection.sendall(b"WRITEDATA routes.ctrl %d\r\n" % len(lines) + lines)
    reply = replies.readline()
    if not reply.startswith(b"200"):
        sys.exit(reply.decode())
PYTHON
}
for neighbour in 10.0.2.2 10.0.2.3; do in_h1 ping -q -c 1 -W 2 $neighbour >/dev/null || fail "$neighbour"; done
replace 10.0.2.2
at_least routes.length "$routes" || fail "$(ctl read routes.length) routes"
echo "ok: $(ctl read routes.length) routes"

# Traffic to destinations behind them. What was sent is counted in front of the link, what arrived by the kernel at its far end.
cat >"$work/traffic.click" <<END
source :: RatedSource(LENGTH 22, RATE $rate) -> UDPIPEncap(10.0.1.2, 9, 32.0.0.1, 9)
  -> SetRandIPAddress(32.0.0.0/7) -> StoreIPAddress(16) -> SetIPChecksum
  -> EtherEncap(0x0800, 02:00:00:00:01:02, 02:00:00:00:01:01)
  -> ToDevice(h1e);
END
arrived() { in_h2 awk '$1 == "Ip:" && $2 != "Forwarding" { print $4 }' /proc/net/snmp; }
before=$(arrived) # before there is a sender, or its first packets would count as lost
ip netns exec "$h1" "$clique" run -u "$work/traffic" "$work/traffic.click" >>"$work/log" 2>&1 &
sender=$!
traffic() { "$clique" ctl -u "$work/traffic" "$@" 2>/dev/null; }
flowing() { [ "$(traffic read source.count || echo 0)" -gt 0 ]; }
wait_for "packets flow" flowing

begin=$(date +%s%N)
replace 10.0.2.3
end=$(date +%s%N)
way_is 32.0.0.1 "2 10.0.2.3" || fail "the routes were not replaced"
traffic write source.active false
sent=$(traffic read source.count)
all_arrived() { [ $(($(arrived) - before)) -ge "$sent" ]; }
WAIT=5 wait_for "$routes routes replaced in $(((end - begin) / 1000000)) ms, and all of $sent packets arrived" all_arrived
kill "$sender"
wait "$sender" || true
stop
