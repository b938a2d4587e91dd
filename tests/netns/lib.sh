# Two hosts and a router between them, in network namespaces: h1 -- eth0 r eth1 -- h2. Sourced by the tests beside it.
#
# A test that cannot run here says why and succeeds: it needs root, network namespaces and a few programs.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
clique=${CLIQUE:-$root/target/debug/clique}
work=$(mktemp -d)
h1=h1-$$ r=r-$$ h2=h2-$$
router=
declare -A held=() # what routers held at first, by process
checksums=(tx on) # whether hosts compute them or leave that to hardware
offloads=off # whether hosts leave segmentation to hardware: off, or default

skip() { echo "skipped: $*"; exit 0; }

[ "$(id -u)" = 0 ] || skip "network namespaces need root"
[ -x "$clique" ] || skip "$clique is not there; build it, or say CLIQUE=FILE"
for program in ip ethtool ping traceroute iperf3 python3 "$@"; do
  command -v "$program" >/dev/null || skip "$program is not installed"
done
ip netns add "$r" 2>/dev/null || skip "this machine does not let this user make network namespaces"

# Routers of tests are not found by other clients of this user.
export XDG_RUNTIME_DIR=$work

in_h1() { ip netns exec "$h1" "$@"; }
in_h2() { ip netns exec "$h2" "$@"; }
in_r() { ip netns exec "$r" "$@"; }

finish() {
  local status=$? unbalanced=
  if [ $status = 0 ] && [ -z "${failed:-}" ] && [ -n "$router" ] && [ -n "${held[$router]:-}" ] && kill -0 "$router" 2>/dev/null; then
    (balanced "$router" "$work/socket") || unbalanced=1
  fi
  [ -z "$router" ] || kill "$router" 2>/dev/null || true
  jobs -p | xargs -r kill 2>/dev/null || true # what a test that failed left behind
  # A function in the background is a shell of its own, and its end does not end the program that it runs.
  for name in "$h1" "$r" "$h2"; do ip netns pids "$name" 2>/dev/null | xargs -r kill 2>/dev/null || true; done
  # What does not end then would keep the test from its end.
  for _ in $(seq 50); do [ -n "$(jobs -rp)" ] || break; sleep 0.1; done
  for name in "$h1" "$r" "$h2"; do ip netns pids "$name" 2>/dev/null | xargs -r kill -KILL 2>/dev/null || true; done
  jobs -rp | xargs -r kill -KILL 2>/dev/null || true
  wait 2>/dev/null || true
  for name in "$h1" "$r" "$h2"; do ip netns del "$name" 2>/dev/null || true; done
  [ -n "${KEEP:-}" ] || rm -rf "$work"
  # Otherwise the status is the test's own.
  [ -z "$unbalanced" ] || exit 1
}
trap finish EXIT

# link HOST INTERFACE MAC ROUTER_INTERFACE MAC: a cable between a host and the router.
link() {
  ip link add "$2" netns "$1" address "$3" type veth peer name "$4" netns "$r" address "$5"
  # By default a host hands over segments of 64 KiB and leaves their cutting to hardware that is not there.
  [ "$offloads" = default ] || ip netns exec "$1" ethtool -K "$2" tso off gso off "${checksums[@]}" >/dev/null
  ip -n "$r" link set "$4" up
  ip -n "$1" link set "$2" up
}

# address HOST INTERFACE NET4 GATEWAY4 NET6 GATEWAY6
address() {
  ip -n "$1" addr add "$3" dev "$2"
  ip -n "$1" addr add "$5" dev "$2" nodad
  ip -n "$1" route replace default via "$4"
  ip -n "$1" route replace default via "$6"
}

build() {
  ip netns add "$h1"
  ip netns add "$h2"
  in_r sysctl -qw net.ipv6.conf.default.disable_ipv6=1 net.ipv6.conf.all.disable_ipv6=1
  link "$h1" h1e 02:00:00:00:01:02 eth0 02:00:00:00:01:01
  link "$h2" h2e 02:00:00:00:02:02 eth1 02:00:00:00:02:01
  for name in "$h1" "$r" "$h2"; do
    ip -n "$name" link set lo up
    # Hosts answer each probe of traceroute.
    ip netns exec "$name" sysctl -qw net.ipv4.icmp_ratelimit=0 net.ipv6.icmp.ratelimit=0
  done
  address "$h1" h1e 10.0.1.2/24 10.0.1.1 2001:db8:1::2/64 2001:db8:1::1
  address "$h2" h2e 10.0.2.2/24 10.0.2.1 2001:db8:2::2/64 2001:db8:2::1
}

# launch ARGUMENTS...: Clique in the router, with a control socket that answers before this returns.
launch() {
  ip netns exec "$r" "$clique" run "$@" >>"$work/log" 2>&1 &
  router=$!
  for _ in $(seq 100); do
    ctl read version >/dev/null 2>&1 && { holds "$router" "$work/socket"; return; }
    kill -0 "$router" 2>/dev/null || break
    sleep 0.1
  done
  fail "the router does not start"
}

# start ARGUMENTS...: Clique in the router, forwarding before this returns.
start() {
  [[ " $* " == *" -u "* ]] || set -- -u "$work/socket" "$@"
  ip netns exec "$r" "$clique" run "$@" >"$work/log" 2>&1 &
  router=$!
  for _ in $(seq 50); do
    in_h1 ping -q -c 1 -W 1 10.0.2.2 >/dev/null && { holds "$router" "$work/socket"; return; }
    kill -0 "$router" 2>/dev/null || break
  done
  cat "$work/log"
  fail "the router does not forward"
}

# Descriptors of a router, and packet buffers that are not free: those with packets in them, and those that the kernel was lent.
holding() { # PID CONTROL_SOCKET
  local descriptors buffers
  descriptors=$(find "/proc/$1/fd" -type l | wc -l) # before there is a connection more
  buffers=$(python3 - "$2" <<'PY'
import socket, sys
control = socket.socket(socket.AF_UNIX)
control.settimeout(5)
control.connect(sys.argv[1])
control.sendall(b"METRICS\r\nQUIT\r\n")
text = b"".join(iter(lambda: control.recv(65536), b"")).decode()
lines = [line for line in text.splitlines() if line.startswith("clique_packet_buffers{") and '"in_use"' in line]
print(sum(int(line.split()[-1]) for line in lines) if lines else "unknown")
PY
  ) || buffers=unknown
  echo "$descriptors $buffers"
}

# holds PID CONTROL_SOCKET: remembers what a router holds, for `balanced`. Where a test means it to hold more from now on, it says so again.
holds() {
  sleep 0.2 # connections that were just closed do not count
  local tries
  for tries in 1 2 3; do # a machine that is short of time may not answer at once
    held[$1]=$(holding "$1" "$2")
    [[ ${held[$1]} == *unknown ]] || return 0
  done
  fail "the router does not say how many packet buffers are in use"
}

# Packets that may be on their way at one time and not at another: those of hosts that look for each other, for instance.
on_their_way=64

is_balanced() { # PID CONTROL_SOCKET MORE
  local first now
  read -ra first <<<"${held[$1]}"
  read -ra now <<<"$(holding "$1" "$2")"
  [ "${now[0]}" -le $((first[0] + $3)) ] && [ "${now[1]}" != unknown ] && [ "${now[1]}" -le $((first[1] + on_their_way)) ]
}

# balanced PID CONTROL_SOCKET [MORE]: a router holds no more descriptors and packet buffers than at first, but for so many descriptors more
# that another configuration needs. Connections that were just closed, and XDP sockets, which keep their buffers for two seconds, have some
# time: each count waits for the connection before it, and a slow guest, where one count takes half a minute, has several.
balanced() {
  local until=$((SECONDS + 8)) count=0
  while sleep 0.2; do
    is_balanced "$1" "$2" "${3:-0}" && return
    count=$((count + 1))
    [ $count -lt 4 ] || [ $SECONDS -lt $until ] ||
      fail "the router holds '$(sleep 0.2; holding "$1" "$2")' descriptors and buffers, '${held[$1]}' at first: $(ls -l "/proc/$1/fd")"
  done
}

# stop [MORE]: ends the router, which has to be balanced.
stop() {
  [ -z "${held[$router]:-}" ] || balanced "$router" "$work/socket" "${1:-0}"
  kill "$router"
  wait "$router" || fail "the router ended with status $?: $(cat "$work/log")"
  router=
}

fail() { failed=1; echo "FAILED: $*" >&2; [ ! -s "$work/log" ] || cat "$work/log" >&2; exit 1; }

# says WHAT PATTERN COMMAND...: the command's output, whatever its status, matches.
says() {
  local what=$1 pattern=$2 output
  shift 2
  output=$("$@" 2>&1 || true)
  grep -Eq "$pattern" <<<"$output" || fail "$what: no '$pattern' in: $output"
  echo "ok: $what"
}

# wait_for WHAT COMMAND...: the command succeeds within WAIT (default 30) seconds.
wait_for() {
  local what=$1 until=$((SECONDS + ${WAIT:-30}))
  shift
  until "$@"; do
    [ $SECONDS -lt $until ] || fail "$what"
    sleep 0.1
  done
  echo "ok: $what"
}

# What the running router says and is told; it was started with -u "$work/socket".
ctl() { "$clique" ctl -u "$work/socket" "$@"; }
is() { [ "$(ctl read "$1" "${@:3}" 2>/dev/null)" = "$2" ]; }
at_least() { [ "$(ctl read "$1" 2>/dev/null || echo 0)" -ge "$2" ]; }
way_is() { is "${table:-routes}.lookup" "$2" "$1"; } # ADDRESS WAY
stat_is() { [ "$(ctl read "$1.stats" | sed -n "s/^$2 //p")" = "$3" ]; }

# The addresses of the router's interfaces in its kernel, which does not forward.
kernel_has_addresses() {
  in_r sysctl -qw net.ipv4.ip_forward=0 net.ipv6.conf.all.forwarding=0
  in_r sysctl -qw net.ipv6.conf.all.disable_ipv6=0 net.ipv6.conf.eth0.disable_ipv6=0 net.ipv6.conf.eth1.disable_ipv6=0
  ip -n "$r" addr add 10.0.1.1/24 dev eth0
  ip -n "$r" addr add 10.0.2.1/24 dev eth1
  ip -n "$r" addr add 2001:db8:1::1/64 dev eth0 nodad
  ip -n "$r" addr add 2001:db8:2::1/64 dev eth1 nodad
}

# conf/frr-router.click with the kernel's routes instead of zebra's.
kernel_router() {
  sed 's/^fpm :: FPMServer(\(.*\), HOLD [^,]*,/kernel :: KernelRoutes(\1,/' "$root/conf/frr-router.click" >"$work/router.click"
}

# lossless WHAT ADDRESS COMMAND...: of a hundred pings a second not one is lost while the command runs. The last ones, still under way when
# the count ends, do not count.
lossless() {
  local what=$1 address=$2 pings
  shift 2
  ip netns exec "$h1" ping -i 0.01 -W 2 "$address" >"$work/pings" &
  pings=$!
  sleep 0.3
  "$@"
  sleep 0.5
  kill -INT "$pings"
  wait "$pings" || true
  awk -v what="$what" '
    match($0, /icmp_seq=[0-9]+/) && !/DUP/ { seen[n = substr($0, RSTART + 9, RLENGTH - 9) + 0] = 1; if (n > last) last = n }
    / packets transmitted/ { sent = $1 }
    END {
      for (n = 1; n <= last; n++) if (!(n in seen)) lost++
      printf "%s: %s: %d packets, %d lost\n", lost || last + 100 < sent ? "FAILED" : "ok", what, last, lost
      exit lost || last + 100 < sent }' "$work/pings" || fail "$(tail -n 3 "$work/pings")"
}
