#!/usr/bin/env bash
# What a packet costs the processes of a cluster of four in namespaces, by what they are to it: host 0 sends to host 2 at a rate that all can
# take, every packet by way of a random node, so that node 0 does nothing but take packets in, nodes 1 and 3 pass them on, and node 2 lets them
# out. Beside them a router that is alone between the two hosts. Root; a table, or JSON with --json.
#
#   CLIQUE=target/release/clique bench/cluster-roles.sh [--json] [ROUNDS] >bench/runs/DATE-cluster-roles.json
#
# WORKERS (default 1) says on how many workers each node runs. RATE (default 100,000) packets a second for SECONDS_EACH (default 4), by Clique in the host. Workers sleep while there is nothing to do, and what
# processes take while nothing is sent (hellos) is subtracted, so processor time is work: of the elements, of system calls, and of the kernel
# behind them. On a virtual cable the sender's processor time has the receiver's share of the kernel in it, for the router that is alone just so.
# The time is that of /proc/PID/task/*/schedstat, the packets those that the nodes counted; medians of ROUNDS (default 5).
number=5 what=rounds
source "$(dirname "$0")/cluster-head.sh" "$@"
rounds=$number rate=${RATE:-100000} seconds=${SECONDS_EACH:-4}

# sources SIZES: flows to host 2; of the mix 7 of 64 bytes, 4 of 594, 1 of 1,514.
sources() {
  local flow size share
  for size in 64:7 594:4 1514:1; do
    share=$((${size#*:} * rate / 12))
    [ "$1" != 64 ] || { share=$rate; [ $size = 64:7 ] || continue; }
    for flow in 1 2 3 4; do
      echo "RatedSource(LENGTH $((${size%:*} - 42)), RATE $((share / 4)))"
      echo "  -> UDPIPEncap(198.18.0.$flow, $flow, 10.0.2.2, 9) -> wire;"
    done
  done
}
# Nanoseconds of processor time of a process, all its threads.
time_of() { cat /proc/"$1"/task/*/schedstat | awk '{ ns += $1 } END { printf "%.0f", ns }'; }
nodes=() # process numbers of what is measured
times() { local pid; for pid in "${nodes[@]}"; do time_of "$pid"; echo; done; }

# What each role has done: node 0 in, nodes 1 and 3 through, node 2 out.
counts_of_cluster() {
  echo $(($(of_node 0 vlb.direct) + $(of_node 0 vlb.balanced)))
  of_node 1 vlb.passed
  of_node 2 vlb.delivered
  of_node 3 vlb.passed
}
counts_alone() { of_node 0 passed.count; }

# measure COUNTS SIZES: nanoseconds for each packet, for each process.
measure() {
  local before after counts counted begin took sent arrived i idle=()
  mapfile -t before < <(times)
  sleep 1
  mapfile -t after < <(times)
  for i in "${!nodes[@]}"; do idle+=($((after[i] - before[i]))); done
  feed 0 "$(sources "$2")"
  sleep 1
  sent=$(sent_by 0) arrived=$(arrived_at 2)
  mapfile -t before < <(times)
  mapfile -t counts < <($1)
  begin=$(date +%s%N)
  sleep "$seconds"
  mapfile -t after < <(times)
  mapfile -t counted < <($1)
  took=$((($(date +%s%N) - begin) / 1000))
  sent=$(($(sent_by 0) - sent)) arrived=$(($(arrived_at 2) - arrived))
  stop_feeds
  echo "$2: $((sent * 1000 / (took / 1000))) packets a second sent, $arrived of $sent arrived"
  costs=()
  for i in "${!nodes[@]}"; do
    counted[i]=$((counted[i] - counts[i]))
    [ "${counted[i]}" -gt 1000 ] || fail "process $i has seen ${counted[i]} packets"
    costs+=($(((after[i] - before[i] - idle[i] * (took / 1000) / 1000) / counted[i])))
  done
}
declare -A found
note() { found[$1]+="$2 "; } # ROLE,SIZES NANOSECONDS
median() { tr ' ' '\n' <<<"$1" | grep . | sort -n | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }
settle() { # until each host's address is known
  for _ in $(seq 20); do
    if in_host 0 ping -q -c 1 -W 1 10.0.2.2 >/dev/null; then return; fi
  done
  fail "host 2 does not answer"
}

for i in 0 1 2 3; do run_node $i conf/cluster-node.click SCHEME=VALIANT ORDER=NONE; done
for i in 0 1 2 3; do await $i 'active +3/3'; done
settle
swallow 2
nodes=("${pids[@]}")
for _ in $(seq "$rounds"); do
  for mix in 64 mix; do
    measure counts_of_cluster $mix
    note ingress,$mix "${costs[0]}"
    note intermediate,$mix $(((costs[1] + costs[3]) / 2))
    note egress,$mix "${costs[2]}"
  done
done
for pid in "${pids[@]}"; do kill "$pid"; wait "$pid" || true; done

# The router that is alone has both hosts' cables.
ip -n "$(node 2)" link set ext down
ip -n "$(node 2)" link set ext netns "$(node 0)" name other
ip -n "$(node 0)" link set other up
rm -f "$work/socket0"
ip netns exec "$(node 0)" "$clique" run -u "$work/socket0" "$root/bench/cluster-alone.click" >>"$work/log" 2>&1 &
pids=($!)
nodes=("${pids[0]}")
ip -n "$(host 2)" route del blackhole 198.18.0.0/15
settle
swallow 2
for _ in $(seq "$rounds"); do
  for mix in 64 mix; do
    measure counts_alone $mix
    note alone,$mix "${costs[0]}"
  done
done

exec 1>&3
row() { # ROLE
  local name=$1 mix=$2
  printf '  { "role": "%s", "sizes": "%s", "ns": %d, "runs": [%s] }' "$name" "$mix" "$(median "${found[$name,$mix]}")" \
    "$(sed 's/ $//; s/ /, /g' <<<"${found[$name,$mix]}")"
}
if [ -n "$json" ]; then
  printf '{ %s, "rate": %d,\n"roles": [\n' "$(machine)" "$rate"
  separator=
  for mix in 64 mix; do
    for role in alone ingress intermediate egress; do
      printf '%s' "$separator"
      row $role $mix
      separator=$',\n'
    done
  done
  printf '\n] }\n'
else
  printf '%-14s%12s%12s\n' "ns a packet" "64 bytes" "mix"
  for role in alone ingress intermediate egress; do
    printf '%-14s%12d%12d\n' $role "$(median "${found[$role,64]}")" "$(median "${found[$role,mix]}")"
  done
fi
