#!/usr/bin/env bash
# Four nodes in namespaces, every packet by way of a random node, a ping each millisecond, if the machine manages that,
# from host 0 to host 2: for how long some are lost when a node is paused, a cable cut, a node killed;
# what is lost when a node comes back, and when one drains. Root; prints JSON.
#
#   CLIQUE=target/release/clique bench/cluster-failures.sh [TIMES] >bench/runs/DATE-cluster-failures.json
number=3 what=times
source "$(dirname "$0")/cluster-head.sh" "$@"
source "$bench/cluster-window.sh"
times=$number

run() { run_node "$1" conf/cluster-node.click SCHEME=VALIANT ORDER=NONE; }
whole() { for i in 0 1 2 3; do await $i 'active +3/3'; done; }
pings=2500

pause() { kill -STOP "${pids[1]}"; sleep 1; kill -CONT "${pids[1]}"; }
cut_cable() { ip -n "$(node 0)" link set l1 down; sleep 1; ip -n "$(node 0)" link set l1 up; }
killed() { kill -9 "${pids[1]}"; }
drain() { "$clique" cluster drain -u "$work/socket3" vlb; }

for i in 0 1 2 3; do run $i; done
whole
in_host 0 ping -q -c 5 -i 0.2 -W 2 10.0.2.2 >/dev/null || true
found=()
for _ in $(seq "$times"); do
  found+=("$(window "nothing" true)")
  found+=("$(window "a node is paused" pause)")
  whole
  found+=("$(window "a cable is cut" cut_cable)")
  whole
  disown "${pids[1]}" 2>/dev/null || true
  found+=("$(window "a node is killed" killed)")
  await 0 'active +2/3'
  found+=("$(window "it comes back" run 1)")
  # It was started by a shell that is gone.
  pids[1]=$(ip netns pids "$(node 1)" | head -n 1)
  whole
  found+=("$(window "a node drains" drain)")
  await 3 'left'
  kill "${pids[3]}"
  wait "${pids[3]}" || true
  run 3
  whole
done
exec 1>&3
printf '{ %s,\n"runs": [\n' "$(machine)"
rows "${found[@]}"
printf '\n] }\n'
