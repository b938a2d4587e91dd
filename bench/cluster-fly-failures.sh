#!/usr/bin/env bash
# As cluster-failures.sh, of a 2-ary 2-fly: four nodes with hosts and eight between them, each a process in a namespace. Every packet goes by way
# of a random terminal. For how long pings from host 0 to host 2 fail when a node between is paused or killed, of the first level or of the last,
# and when a cable is cut, of a terminal or between levels; what is lost when a node comes back, and when one drains. For each HOLD of
# HOLDS (default "200 100 50", in milliseconds, with a hello each tenth of HOLD at most 10 ms), also whether nodes are given up while nothing is
# broken, for QUIET (default 20) seconds; bench/cluster-alarms.awk says which of these alarms are right. Twelve processes share the
# processors of one machine: who waits for one for as long as HOLD is given up. Root; prints JSON. About two and a half minutes for each
# HOLD and time, four where other things run.
#
#   CLIQUE=target/release/clique bench/cluster-fly-failures.sh [TIMES] >bench/runs/DATE-cluster-fly-failures.json
number=3 what=times mesh=
source "$(dirname "$0")/cluster-head.sh" "$@"
source "$bench/cluster-window.sh"
times=$number pings=2500
build_fly

run() { run_fly_node "$1" "$work/run$1.click"; }
# It was started by a shell that is gone.
find_process() { pids[$1]=$(ip netns pids "$(node "$1")" | head -n 1); }
start_all() { # HOLD in milliseconds
  local i pid
  for pid in "${pids[@]}"; do kill "$pid" 2>/dev/null || true; done
  for pid in "${pids[@]}"; do wait "$pid" 2>/dev/null || true; done
  for i in $(seq 0 11); do
    sed "s/HOLD 200ms/HOLD $1ms, HELLO ${hello}ms/; s/ORDER FLOWLET/ORDER NONE, SCHEME VALIANT/" "$work/n$i.click" >"$work/run$i.click"
    run "$i"
  done
  await_fly
}
pause() { kill -STOP "${pids[$1]}"; sleep 1; kill -CONT "${pids[$1]}"; }
cut_cable() { ip -n "$(node "$1")" link set "l$2" down; sleep 1; ip -n "$(node "$1")" link set "l$2" up; }
killed() { kill -9 "${pids[$1]}"; }
drain() { "$clique" cluster drain -u "$work/socket$1" vlb; }
note() { # what happened, and what came of it
  found+=("$(window "$@" | sed "s/^{/{ \"hold_ms\": $hold,/")")
}
kill_and_return() { # NODE WHAT
  disown "${pids[$1]}" 2>/dev/null || true
  note "$2 is killed" killed "$1"
  note "it comes back" run "$1"
  find_process "$1"
  await_fly
}
# Alarms while nothing is broken.
quiet() {
  local since i
  since=$(awk '{ printf "%.0f", $1 * 1e6 }' /proc/uptime) # nothing sleeps here, so that is CLOCK_MONOTONIC
  sleep "${QUIET:-20}"
  for i in $(seq 0 11); do
    of_node "$i" vlb.pause_log | sed "s/^[0-9]/pause $i &/"
    of_node "$i" vlb.alarm_log | sed "s/^[0-9]/alarm $i &/"
  done >"$work/notes"
  alarms+=("{ \"hold_ms\": $hold, \"seconds\": ${QUIET:-20}, $(awk -v hold="$hold" -v hello=$hello -v since="$since" -f "$bench/cluster-alarms.awk" "$work/notes") }")
}

found=() alarms=()
for hold in ${HOLDS:-200 100 50}; do
  hello=$((hold / 10 > 10 ? 10 : hold / 10))
  start_all "$hold"
  for i in 1 2 3; do in_host 0 ping -q -c 3 -i 0.2 -W 2 10.0.2.2 >/dev/null || true; done
  quiet
  for _ in $(seq "$times"); do
    note "nothing" true
    note "a node of the first level is paused" pause 4
    await_fly
    note "a node of the last level is paused" pause 10
    await_fly
    note "a terminal's cable is cut" cut_cable 0 4
    await_fly
    note "a cable between levels is cut" cut_cable 4 10
    await_fly
    kill_and_return 4 "a node of the first level"
    kill_and_return 10 "a node of the last level"
    note "a node between drains" drain 5
    await 5 left
    kill "${pids[5]}"
    wait "${pids[5]}" 2>/dev/null || true
    run 5
    await_fly
  done
done
exec 1>&3
printf '{ %s,\n"runs": [\n' "$(machine)"
rows "${found[@]}"
printf '\n],\n"quiet": [\n'
rows "${alarms[@]}"
printf '\n] }\n'
