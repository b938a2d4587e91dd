# Tests that need another kernel than this machine's (guest.sh says how that is had). Sourced by the tests beside it.
#
# A test is one script with a shell function for each guest. The function runs in the guest, in which this machine's programs and files are, and may
# source tests/netns/lib.sh there: namespaces, links, `says`, `wait_for`, `ctl` and the rest then work as in tests/netns, and nothing stays behind.
#
#   inside() { source "$root/tests/netns/lib.sh"; build; ...; }
#   guest inside                        # one guest, until it ends; the test fails if the function does
#
#   guest one -n "$work/cable/a" &      # two guests and a cable between their eth0; the options are those of guest.sh
#   guest two -n "$work/cable/b" &
#   guests_end
#
# $work is a directory that stays, which all guests of a test share: a file there tells another guest something (`tell NAME`, `await NAME`).
# A test that cannot run here says why and succeeds: guests need root and a few programs, and Debian's packages the first time.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
clique=$(realpath -m "${CLIQUE:-$root/target/debug/clique}")
work=$(mktemp -d)
shared=$work
name=$(basename "$0" .sh)
export root clique CLIQUE=$clique

skip() { echo "skipped: $*"; exit 0; }
fail() { echo "FAILED: $*" >&2; exit 1; }

# says WHAT PATTERN COMMAND...: the command's output, whatever its status, matches.
says() {
  local what=$1 pattern=$2 output
  shift 2
  output=$("$@" 2>&1 || true)
  grep -Eq "$pattern" <<<"$output" || fail "$what: no '$pattern' in: $output"
  echo "ok: $what"
}

[ -x "$clique" ] || skip "$clique is not there; build it, or say CLIQUE=FILE"
for program in ip ethtool ping traceroute iperf3; do
  command -v "$program" >/dev/null || skip "$program is not installed"
done
reason=$("$root/tests/vm/guest.sh" -k 2>&1) || skip "$reason"

at_end=()
finish() {
  local command
  for command in "${at_end[@]}"; do eval "$command" 2>/dev/null || true; done
  jobs -p | xargs -r kill 2>/dev/null || true # what a test that failed left behind
  wait 2>/dev/null || true
  [ -n "${KEEP:-}" ] || rm -rf "$work"
}
trap finish EXIT

# guest FUNCTION [OPTION...]: runs the function in a guest, with the options of guest.sh.
guest() {
  local function=$1 status=0 pid
  shift
  "$root/tests/vm/guest.sh" -w "$work" "$@" bash -c "set -euo pipefail; shared=$work; $(declare -f); $function" 2>"$work/$function.why" &
  pid=$!
  # If this guest is one of several it ends with the test.
  [ $BASHPID = $$ ] || trap 'kill $pid 2>/dev/null; exit 143' TERM
  wait $pid || status=$?
  cat "$work/$function.why" >&2
  [ $status = 0 ] || { touch "$work/failed"; fail "$name: $function ended with status $status"; }
}

# All guests that were started with & have ended, and well; if one has not, the others are ended.
guests_end() {
  while [ -n "$(jobs -r)" ] && [ ! -e "$work/failed" ]; do sleep 0.2; done
  [ ! -e "$work/failed" ] || fail "$name: a guest did not end well"
}

# From guest to guest. tests/netns/lib.sh has another $work.
tell() { touch "$shared/told.$1"; }
await() {
  for _ in $(seq 1800); do
    [ ! -e "$shared/told.$1" ] || return 0
    [ ! -e "$shared/failed" ] || break # another guest has said why
    sleep 0.1
  done
  echo "FAILED: waited for '$1'" >&2
  exit 1
}

# What follows is for guests that have sourced tests/netns/lib.sh.

# The router's own kernel as a router, between the networks that `build` makes.
kernel_forwards() {
  kernel_has_addresses
  in_r sysctl -qw net.ipv4.ip_forward=1 net.ipv6.conf.all.forwarding=1
}

# take ARGUMENTS...: clique run --from-host, forwarding all interfaces before this returns, and what the kernel counts at this moment.
take() {
  local number interface
  launch --from-host -u "$work/socket" "$@"
  ports=()
  for number in 1 2 3 4 5 6 7 8 9; do
    interface=$(ctl read "p$number/to.config" 2>/dev/null) || break
    interface=${interface%%,*}
    ports+=("$interface $number")
    base "$interface" "p$number/FromDevice@2" >"$work/base.$interface"
  done
  by_kernel=$(forwarded_by_kernel)
}
# base INTERFACE ELEMENT: what the kernel had counted before the element began. Nothing may come between the two readings.
base() {
  local before counted
  for _ in $(seq 100); do
    before=$(received "$1")
    sleep 0.5
    counted=$(counted "$2")
    [ "$(received "$1")" != "$before" ] || { echo $((before - counted)); return; }
  done
  fail "$1: packets come all the time"
}
counted() { echo $(($(ctl read "$1.count") + $(ctl read "$1.kernel_drops"))); }
received() { in_r cat "/sys/class/net/$1/statistics/rx_packets"; }
# IPv4 and IPv6 packets that the router's kernel has forwarded.
forwarded_by_kernel() {
  in_r awk '/^Ip: [0-9]/ { sum += $7 } /^Ip6OutForwDatagrams/ { sum += $2 } END { print sum }' /proc/net/snmp /proc/net/snmp6
}

# forwards WHAT [COUNT]: pings, fragments and a transfer by TCP pass from h1 to h2. Guests are slow: pings may take seconds.
forwards() {
  local what=$1 count=${2:-20}
  says "$what: IPv4" " 0% packet loss" in_h1 ping -c "$count" -i 0.05 -W 10 10.0.2.2
  says "$what: IPv6" " 0% packet loss" in_h1 ping -c "$count" -i 0.05 -W 10 2001:db8:2::2
  says "$what: fragments" " 0% packet loss" in_h1 ping -c 3 -i 0.2 -s 4000 -W 10 10.0.2.2
  says "$what: a hop" "Time to live exceeded" in_h1 ping -c 1 -t 1 -W 10 10.0.2.2
  transfers "$what" 10.0.2.2
  transfers "$what" 2001:db8:2::2
}

# transfers WHAT ADDRESS [BYTES]: from h1 to h2 by TCP, octet by octet.
transfers() {
  local what=$1 address=$2 bytes=${3:-500000} server
  in_h2 timeout 120 iperf3 -s -1 --forceflush >"$work/iperf" 2>&1 &
  server=$!
  WAIT=60 wait_for "$what: a server" grep -q listening "$work/iperf" >/dev/null
  says "$what: TCP to $address" "receiver" in_h1 timeout 60 iperf3 -c "$address" -n "$bytes" --connect-timeout 30000
  wait $server || fail "$what: TCP to $address: $(cat "$work/iperf")"
  grep -q "receiver" "$work/iperf" || fail "$what: TCP to $address: $(cat "$work/iperf")"
}

# Each frame that the kernel has received on the interfaces is counted by Clique, and the kernel has forwarded none.
counts_agree() {
  local port interface
  for port in "${ports[@]}"; do
    interface=${port% *}
    WAIT=60 wait_for "$1: $interface: the kernel's count" count_agrees "$interface" "p${port#* }/FromDevice@2"
  done
  [ "$(forwarded_by_kernel)" = "$by_kernel" ] || fail "$1: the kernel has forwarded $(($(forwarded_by_kernel) - by_kernel)) packets"
  echo "ok: $1: nothing was forwarded by the kernel"
}
count_agrees() {
  [ "$(($(received "$1") - $(cat "$work/base.$1")))" = "$(counted "$2")" ]
}
