#!/usr/bin/env bash
# `clique reload --shadow`: what a new configuration would make of live packets is found before it runs.
source "$(dirname "$0")/lib.sh" python3

build

# The same router, as a text that can be changed.
config=$root/conf/linux-router.click
cp "$config" "$work/same.click"
# DNS is dropped; nothing else is.
sed 's/deny src net 224.0.0.0\/4, allow all/deny src net 224.0.0.0\/4, deny dst udp port 53, allow all/' "$config" >"$work/filter.click"
# Elements have other names.
sed 's/\bttl\b/lifetime/g; s/\bkind\b/sorted/g; s/\bPort\b/Side/g' "$config" >"$work/renamed.click"
for name in filter renamed; do
  ! cmp -s "$config" "$work/$name.click" || fail "$name.click is the same text"
done

start -R "$config"

# Packets all the while: pings, and UDP to port 53 and to another one, of new flows.
talk() {
  in_h1 ping -q -i 0.05 10.0.2.2 >/dev/null &
  in_h1 ping -q -i 0.1 2001:db8:2::2 >/dev/null &
  in_h1 python3 - <<'PY' &
import socket, time
while True:
    for port in (53, 5300):
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"question", ("10.0.2.2", port))
    time.sleep(0.05)
PY
}
talk
sleep 0.5

reload() { ip netns exec "$r" "$clique" reload -u "$work/socket" "$@"; }
number() { "$clique" history -u "$work/socket" | sed -n 's/^\* *\([0-9]*\) .*/\1/p'; }
# status_of EXPECTED WHAT ARGUMENTS...: the status of a reload, whose output is kept.
status_of() {
  local expected=$1 what=$2 status=0
  shift 2
  reload "$@" >"$work/said" 2>&1 || status=$?
  [ $status = "$expected" ] || fail "$what: status $status, not $expected: $(cat "$work/said")"
  echo "ok: $what"
}
said() { says "$1" "$2" cat "$work/said"; }

status_of 0 "the same text, looked at only" --shadow 3s --dry-run "$work/same.click"
said "packets came" "^shadow: [0-9]{2,} packets to both"
said "no difference" "^shadow: no difference"
[ "$(number)" = 1 ] || fail "a dry run has loaded something"

status_of 1 "a filter" --shadow 3s "$work/filter.click"
said "a packet is named" "udp 10.0.1.2:[0-9]+ > 10.0.2.2:53 .* from eth0: running: sent by eth1; new: dropped by '[^']*IPFilter"
grep -q "5300" "$work/said" && fail "packets to another port are taken for different: $(cat "$work/said")"
[ "$(number)" = 1 ] || fail "a configuration that differs was loaded"
echo "ok: the configuration that ran goes on"

status_of 1 "an object of JSON" --shadow 2s --json "$work/filter.click"
python3 - "$work/said" <<'PY' || fail "the object: $(cat "$work/said")"
import json, sys
answer = json.load(open(sys.argv[1]))
shadow = answer["shadow"]
alone = shadow["interfaces"]["eth1"]["alone"]
assert answer["answer"] == "differs" and shadow["differs"] and alone["running"] > 0 and alone["new"] == 0, answer
assert 1 <= len(shadow["examples"]) <= 5
PY
echo "ok: it says so"

status_of 0 "other names" --shadow 3s "$work/renamed.click"
said "no difference" "^shadow: no difference"
said "the switch" "^configuration 2 runs"

status_of 0 "differences that are meant" --shadow 2s --accept-differences "$work/filter.click"
said "they are told" "^shadow: the configurations differ"
said "the switch" "^configuration 3 runs"

# What cannot run in shadow is named, and nothing is waited for.
cat "$config" - >"$work/daemon.click" <<'END'
s :: Socket(UDP, 127.0.0.1, 1234) -> Discard;
END
status_of 3 "an element that opens a socket" --shadow 60s "$work/daemon.click"
said "it is named" "'s' \(Socket\) opens a socket"
[ "$(number)" = 3 ] || fail "it was loaded"
stop 2

# Routes that are in no text: both copies have those that the kernel has given to the running router.
kernel_has_addresses
kernel_router
sed 's/\broutes\b/fib/g' "$work/router.click" >"$work/fib.click"
start -R "$work/router.click"
status_of 0 "routes of the kernel, in a table of another name" --shadow 3s "$work/fib.click"
said "packets were forwarded" "^  sent by eth1: [0-9]{2,} running, [0-9]{2,} new$"
said "the switch" "^configuration 2 runs"
# Without them nothing would be.
sed '/^[a-z]* :: KernelRoutes/d' "$work/router.click" >"$work/none.click"
status_of 1 "no routes of the kernel" --shadow 2s "$work/none.click"
says "from elsewhere" "another network namespace" "$clique" reload -u "$work/socket" --shadow 2s "$work/none.click"
