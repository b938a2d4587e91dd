#!/usr/bin/env bash
# Four nodes in namespaces, and at each a host that sends 64-byte packets to the other three as fast as it can, for SECONDS (default 1,800).
# Nothing is broken. Who is given up all the same either did not run, by its own notes, for as long as it takes to be given up, since others had
# the processor or the machine had none: then the alarm is right. Or it ran: a false alarm (bench/cluster-alarms.awk). Root; a line
# every ten seconds on standard error, the findings at the end, as JSON with --json. Fails if there was a false alarm, or a node ended.
#
#   CLIQUE=target/release/clique bench/cluster-soak.sh [--json] [SECONDS] >bench/runs/DATE-cluster-soak.json
#
# RATE=N has each host send N packets a second instead. NOTES=FILE keeps what nodes noted. `steal_ms` is time of all processors that the host of a
# virtual machine gave to others, `pauses` counts how often a node sent no hello for longer than two should be apart.
number=1800 what=seconds
source "$(dirname "$0")/cluster-head.sh" "$@"
seconds=$number
feed_nice=19 # other hosts have processors of their own; these shall at least not take that of the nodes
for i in 0 1 2 3; do run_node $i conf/cluster-node.click; done
for i in 0 1 2 3; do await $i 'active +3/3'; done
# Each node learns its host's address.
for i in 0 1 2 3; do in_host $i ping -q -c 3 -i 0.2 -W 2 10.0.$(((i + 1) % 4)).2 >/dev/null || fail "host $i reaches no host"; done

# sources HOST: four flows to each other host.
sources() {
  local j flow
  for j in 0 1 2 3; do
    [ $j != "$1" ] || continue
    for flow in 1 2 3 4; do
      if [ -n "${RATE:-}" ]; then echo "RatedSource(LENGTH 22, RATE $((RATE / 12)))"; else echo "InfiniteSource(LENGTH 22, BURST 16)"; fi
      echo "  -> UDPIPEncap(198.18.$1.$flow, $flow, 10.0.$j.2, 9) -> wire;"
    done
  done
}
sum() { # HANDLER: over all nodes
  local i value total=0
  for i in 0 1 2 3; do
    value=$(of_node $i "$1") || { echo "gone"; return; }
    total=$((total + value))
  done
  echo $total
}
most() {
  local i value largest=0
  for i in 0 1 2 3; do
    value=$(of_node $i "$1") || continue
    [ "$value" -le $largest ] || largest=$value
  done
  echo $largest
}
all_sent() { local i total=0; for i in 0 1 2 3; do total=$((total + $(sent_by $i))); done; echo $total; }
all_arrived() { local i total=0; for i in 0 1 2 3; do total=$((total + $(arrived_at $i))); done; echo $total; }
# How often what is expected was not so: a node that has ended, or that does not take part, or misses a neighbour.
ended() { local pid n=0; for pid in "${pids[@]}"; do kill -0 "$pid" 2>/dev/null || n=$((n + 1)); done; echo $n; }

# What nodes note, read often enough that nothing is forgotten before.
notes=${NOTES:-$work/notes} hold=50 hello=2
: >"$notes"
read_notes() {
  local i
  for i in 0 1 2 3; do
    of_node $i vlb.pause_log | sed "s/^[0-9]/pause $i &/"
    of_node $i vlb.alarm_log | sed "s/^[0-9]/alarm $i &/"
  done | grep -E '^(pause|alarm)' | sort -u - "$notes" -o "$notes" || true
}
judge() { awk -v hold=$hold -v hello=$hello "$@" -f "$bench/cluster-alarms.awk" "$notes"; }
steal() { awk '$1 == "cpu" { print $9 * 10 }' /proc/stat; } # ticks of a hundredth of a second

for i in 0 1 2 3; do
  swallow $i
  feed $i "$(sources $i)"
done
flowing() { local i; for i in 0 1 2 3; do [ "$(arrived_at $i)" -gt 1000 ] || return 1; done; }
wait_for "packets flow everywhere" flowing
sent=$(all_sent) arrived=$(all_arrived) begin=$(date +%s%N) steal=$(steal) not_whole=0 looks=0 next=10
while :; do
  now=$((($(date +%s%N) - begin) / 1000000000))
  [ $now -lt "$seconds" ] || break
  for i in 0 1 2 3; do
    looks=$((looks + 1))
    grep -Eq 'active +3/3' <<<"$(status $i)" || not_whole=$((not_whole + 1))
  done
  read_notes
  if [ $now -ge $next ]; then
    next=$((next + 10))
    s=$(all_sent) a=$(all_arrived)
    echo "$now s: $(((s - sent) / (now * 1000))) thousand packets a second sent, $(((a - arrived) / (now * 1000))) arrived;" \
      "$(judge | tr -d '"'), stolen $(($(steal) - steal)) ms, ended $(ended), pauses $(sum vlb.pauses), the longest $(most vlb.longest_pause) ms"
  fi
  sleep 1
done
took=$(($(date +%s%N) - begin))
sent=$(($(all_sent) - sent)) arrived=$(($(all_arrived) - arrived))
steal=$(($(steal) - steal))
dead=$(ended) pauses=$(sum vlb.pauses) longest=$(most vlb.longest_pause)
stop_feeds
sleep 1 # who does not run now notes that when it does
read_notes
judge -v list=1
alarms=$(judge)
exec 1>&3
if [ -n "$json" ]; then
  printf '{ %s,\n' "$(machine)"
  printf '  "seconds": %d, "sent": %d, "arrived": %d, %s, "ended": %d,\n' \
    $((took / 1000000000)) "$sent" "$arrived" "$alarms" "$dead"
  printf '  "looks": %d, "not_whole": %d, "pauses": "%s", "longest_pause_ms": %d, "steal_ms": %d }\n' "$looks" "$not_whole" "$pauses" \
    "$longest" "$steal"
else
  echo "$((took / 1000000000)) s: $sent packets sent, $arrived arrived ($((arrived * 1000 / (took / 1000000))) a second)"
  echo "$(tr -d '"' <<<"$alarms"); nodes that ended: $dead; of $looks looks, $not_whole found a node not whole"
  echo "nodes did not send a hello for longer than 4 ms: $pauses times, for $longest ms at most; stolen by the host: $steal ms"
fi
# Who was rightly given up is missed for a while; otherwise all are there at every look.
if ! grep -q '"false_alarms": 0, "forgotten_notes": 0' <<<"$alarms" || [ "$dead" != 0 ]; then exit 1; fi
if [ "$not_whole" != 0 ] && grep -q '"alarms": 0' <<<"$alarms"; then exit 1; fi
