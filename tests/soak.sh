#!/usr/bin/env bash
# A router that forwards while its configuration is replaced, rightly and wrongly, its handlers are read, and its interfaces go down, vanish and come
# back: afterwards memory, descriptors, threads and packet buffers are what they were after the first rounds.
#
#   tests/soak.sh [SECONDS]      default: 300
#   ANEW=1 tests/soak.sh         and also after interfaces that are made anew while no configuration is replaced
seconds=${1:-300}
source "$(dirname "$0")/netns/lib.sh" curl

build
# Replaced in turn: the second one has elements that the first lacks.
sed 's|^p0\[0\] -> routes;|p0[0] -> seen :: Counter -> routes;|' "$root/conf/linux-router.click" >"$work/counted.click"
cmp -s "$work/counted.click" "$root/conf/linux-router.click" && fail "the two configurations are the same"
sed 's|Strip(14)|Strip(fourteen)|' "$root/conf/linux-router.click" >"$work/wrong.click"
launch -j2 -R -u "$work/socket" --metrics "$work/metrics" "$root/conf/linux-router.click"

metric() { curl -sf --unix-socket "$work/metrics" http://localhost/metrics | grep -F "$1" | awk '{ sum += $NF } END { printf "%d\n", sum }'; }
traffic=()
traffic_begins() {
  local address
  for address in 10.0.2.2 2001:db8:2::2; do
    ip netns exec "$h1" ping -q -i 0.005 -s 1000 "$address" >"$work/pings.$address" 2>&1 &
    traffic+=($!)
  done
  ip netns exec "$h1" ping -q -i 0.05 -s 4000 10.0.2.2 >/dev/null 2>&1 &
  traffic+=($!)
}
traffic_ends() {
  kill -INT "${traffic[@]}"
  wait "${traffic[@]}" || true
  traffic=()
}

swap() { ctl write hotconfig "$(cat "$1")"; }
vanish() {
  ip -n "$r" link del eth1
  sleep 0.3
  link "$h2" h2e 02:00:00:00:02:02 eth1 02:00:00:00:02:01
  address "$h2" h2e 10.0.2.2/24 10.0.2.1 2001:db8:2::2/64 2001:db8:2::1
}
rounds=0
# One of each; now and then an interface vanishes and is made anew.
round() {
  local handler
  swap "$work/counted.click" >/dev/null || fail "a right configuration is refused"
  ! swap "$work/wrong.click" >/dev/null 2>&1 || fail "a wrong configuration is taken"
  for handler in list flatconfig load workers routes.table p0/arp.table p1/to.count seen.count; do
    ctl read "$handler" >/dev/null || fail "$handler cannot be read"
  done
  metric clique_ >/dev/null
  swap "$root/conf/linux-router.click" >/dev/null || fail "a right configuration is refused"
  ip -n "$r" link set eth1 down
  sleep 0.2
  ip -n "$r" link set eth1 up
  [ $((rounds % 3)) != 0 ] || vanish
  rounds=$((rounds + 1))
  kill -0 "$router" 2>/dev/null || fail "the router has ended"
}

# What the router has: descriptors, threads, packet buffers in use, objects that wait to be freed, and kilobytes of memory.
balance() {
  echo "descriptors $(ls "/proc/$router/fd" | wc -l)"
  echo "threads $(ls "/proc/$router/task" | wc -l)"
  echo "buffers $(metric 'state="in_use"')"
  echo "waiting $(metric clique_rcu_waiting_callbacks)"
}
memory_kb() { awk '/^VmRSS/ { print $2 }' "/proc/$router/status"; }
quiet() {
  in_h1 ping -q -c 3 -i 0.3 -W 5 10.0.2.2 >/dev/null || fail "$1: IPv4 is not forwarded"
  in_h1 ping -q -c 3 -i 0.3 -W 5 2001:db8:2::2 >/dev/null || fail "$1: IPv6 is not forwarded"
  sleep 2
}
is_balanced() { balance >"$work/now"; cmp -s "$work/now" "$work/before"; }

# What is made once is made in the first rounds.
traffic_begins
sleep 1
for _ in 1 2 3 4 5 6; do round; done
traffic_ends
swap "$root/conf/linux-router.click" >/dev/null
quiet "after the first rounds"
# Connections to sockets of the router end a moment after their clients.
for _ in 1 2 3 4 5 6; do
  balance >"$work/now"
  [ -s "$work/before" ] && [[ $(cat "$work/now") > $(cat "$work/before") ]] || cp "$work/now" "$work/before"
  sleep 0.5
done
before_kb=$(memory_kb)
echo "after $rounds rounds: $(tr '\n' ' ' <"$work/before"), $before_kb kB"

traffic_begins
until=$((SECONDS + seconds))
while [ $SECONDS -lt $until ]; do round; done
sleep 1
traffic_ends
swap "$root/conf/linux-router.click" >/dev/null
quiet "after $rounds rounds"
for address in 10.0.2.2 2001:db8:2::2; do
  says "$address: answers" " [1-9][0-9]+ received" cat "$work/pings.$address"
done
balances() { # WHAT
  for _ in $(seq 20); do is_balanced && break; sleep 0.5; done
  is_balanced || fail "$1: $(diff "$work/before" "$work/now")"
  echo "ok: $1: $(tr '\n' ' ' <"$work/now")"
}
balances "after $rounds rounds"
if [ -n "${ANEW:-}" ]; then
  for _ in 1 2 3; do vanish; sleep 1.5; done
  quiet "an interface that was made anew three times"
  balances "an interface that was made anew three times"
fi
after_kb=$(memory_kb)
[ $((after_kb - before_kb)) -le 16384 ] || fail "memory: $before_kb kB before, $after_kb kB after $rounds rounds"
echo "ok: memory: $before_kb kB before, $after_kb kB after"
stop
