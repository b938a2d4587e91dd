#!/usr/bin/env bash
# Instructions a packet over AF_XDP, in the program and not in the kernel: FromDevice, EtherRewrite and ToDevice, and the bare loop of
# `clique-bench devices`. What Clique takes beyond that loop is its own.
#
# usage: bench/xdp-instructions.sh [--json] [--program FILE] [--bench FILE]
#
# Each is stopped while frames arrive and goes on when they are all there, so that it meets full batches; the difference between 20 lots of 900 frames and of
# 100, divided by 16,000, is what a packet takes, since starting and waiting cancel out. It needs root, valgrind, python3 and iproute2.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)

json=false clique=$root/target/dist/clique bench=$root/target/dist/clique-bench
while [ $# -gt 0 ]; do
  case $1 in
  --json) json=true ;;
  --program) clique=$(realpath "$2"); shift ;;
  --bench) bench=$(realpath "$2"); shift ;;
  *) sed -n '2,9s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
  esac
  shift
done
for program in "$clique" "$bench"; do
  [ -x "$program" ] || { echo "$program: not built (cargo build --profile dist --bin clique --bin clique-bench)" >&2; exit 2; }
done
lots=20 few=100 many=900

work=$(mktemp -d) hosts=xi-hosts-$$ router=xi-router-$$
trap 'kill $(jobs -p) 2>/dev/null || true; ip netns del "$hosts"; ip netns del "$router"; rm -rf "$work"' EXIT
ip netns add "$hosts"
ip netns add "$router"
for cable in 0 1; do
  ip link add name "far$cable" netns "$hosts" type veth peer name "eth$cable" netns "$router"
  ip netns exec "$hosts" sysctl -qw "net.ipv6.conf.far$cable.disable_ipv6=1"
  ip netns exec "$router" sysctl -qw "net.ipv6.conf.eth$cable.disable_ipv6=1"
  ip -n "$hosts" link set dev "far$cable" up
  ip -n "$router" link set dev "eth$cable" up
done
cat >"$work/send.py" <<'PY'
import os, signal, socket, sys, time
interface, lots, frames, forwarder = sys.argv[1], *map(int, sys.argv[2:])
sender = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
sender.bind((interface, 0))
frame = bytes.fromhex("0200000001010200000001020800") + bytes(46)
for _ in range(lots):
    os.kill(forwarder, signal.SIGSTOP)
    time.sleep(0.05)
    for _ in range(frames):
        sender.send(frame)
    time.sleep(0.05)
    os.kill(forwarder, signal.SIGCONT)
    time.sleep(0.4)
PY
arrived() { ip netns exec "$hosts" cat /sys/class/net/far1/statistics/rx_packets; }

# count FRAMES READY COMMAND...: the instructions of a forwarder that gets so many frames at a time; READY says that it forwards.
count() {
  local frames=$1 ready=$2 before forwarder
  shift 2
  ip netns exec "$router" valgrind --tool=callgrind --callgrind-out-file="$work/profile" "$@" >"$work/said" 2>&1 &
  forwarder=$!
  for _ in $(seq 100); do $ready && break; sleep 0.3; done
  before=$(arrived)
  ip netns exec "$hosts" python3 "$work/send.py" far0 "$lots" "$frames" "$forwarder"
  [ $(($(arrived) - before)) = $((lots * frames)) ] || { echo "packets were lost: $*" >&2; return 1; }
  kill -TERM "$forwarder"
  wait "$forwarder" || true
  sed -n 's/^totals: //p' "$work/profile"
}
a_packet() { # a_packet READY COMMAND...
  local less more
  less=$(count "$few" "$@")
  more=$(count "$many" "$@")
  echo $(((more - less) / (lots * (many - few))))
}
says_ready() { grep -q '^ready' "$work/said"; }
answers() { "$clique" ctl -u "$work/socket" read to.count >/dev/null 2>&1; }

bare=$(a_packet says_ready "$bench" devices --forwarder bare-xdp)
routed=$(a_packet answers "$clique" run -u "$work/socket" -e 'to :: ToDevice(eth1, METHOD XDP);
  FromDevice(eth0, METHOD XDP) -> EtherRewrite(02:00:00:00:02:01, 02:00:00:00:02:02) -> to')
if "$json"; then
  printf '{"commit": "%s", "bare": %d, "clique": %d, "own": %d}\n' "$(git -C "$root" describe --always --dirty)" "$bare" "$routed" $((routed - bare))
else
  printf '%-40s %5d\n' "bare loop" "$bare" "FromDevice, EtherRewrite, ToDevice" "$routed" "beyond the bare loop" $((routed - bare))
fi
