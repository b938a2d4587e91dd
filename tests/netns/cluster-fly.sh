#!/usr/bin/env bash
# clique cluster up --fly: a 2-ary 2-fly of four nodes with hosts and eight between them, each a process of two workers in a namespace. Hosts try
# it in IPv4 and IPv6; a node between dies and one drains, and traffic goes on. About 30 s.
source "$(dirname "$0")/lib.sh"
name=fly$$
finish_fly() {
  "$clique" cluster down --name "$name" >/dev/null 2>&1 || true
  finish
}
trap finish_fly EXIT
host() { ip netns exec "$name-h$1" "${@:2}"; }
status() { timeout 10 "$clique" cluster status --name "$name" 2>&1; }
rows() { [ "$(status | grep -Ec "$1")" = "$2" ]; } # PATTERN COUNT
# No packet is lost, within a few attempts: on a busy machine nodes may take each other for dead for a moment.
reaches() { # HOST ADDRESS
  for _ in $(seq 20); do
    if host "$1" ping -q -c 5 -i 0.1 -W 2 "$2" | grep -q " 0% packet loss"; then return; fi
  done
  fail "host $1 does not reach $2: $(status)"
}
all_reach() {
  local i to
  for i in 0 1 2 3; do
    to=$(((i + 1) % 4))
    reaches "$i" "10.0.$to.2"
    reaches "$i" "2001:db8:$to::2"
  done
  echo "ok: $1"
}

: >"$work/log"
"$clique" cluster up --local 4 --fly 2 -j "${workers:-2}" --name "$name" >"$work/log" 2>&1 &
up=$!
WAIT=90 wait_for "all nodes take part" grep -q "nodes and" "$work/log"
says "four nodes and eight" "4 nodes and 8 between them" cat "$work/log"
wait_for "nodes reach all hosts' nodes" rows 'n[0-3]/vlb +active +3/3 +4/4' 4
wait_for "so do those between" rows 'n([4-9]|1[01])/vlb +active +4/4 +4/4' 8
all_reach "every host reaches the next"
says "one router: one hop" "^ *2 .*10.0.3.2" host 0 traceroute -n -w 2 -q 1 -N 1 10.0.3.2
says "in IPv6, too" "^ *2 .*2001:db8:3::2" host 0 traceroute -6 -n -w 2 -q 1 -N 1 2001:db8:3::2
for to in 10.0.3.2 2001:db8:3::2; do
  host 3 timeout 40 iperf3 -s -1 >/dev/null 2>&1 &
  sleep 0.5
  says "iperf3 to $to" "receiver" host 0 timeout 30 iperf3 -c "$to" -t 1
done

# Node 4 is the first on the way from hosts 0 and 1 to half of the others, and is killed; hosts go on by the other half.
ping_log=$work/ping
host 0 ping -q -c 300 -i 0.01 -W 2 10.0.2.2 >"$ping_log" 2>&1 &
pinging=$!
host 0 ping -q -c 300 -i 0.01 -W 2 2001:db8:2::2 >"${ping_log}6" 2>&1 &
pinging6=$!
sleep 0.3
kill -9 "$(cat "/run/clique-cluster-$name/n4.pid")"
wait "$pinging" || true
wait "$pinging6" || true
says "traffic goes on" " ([12][0-9][0-9]|300) received" cat "$ping_log"
says "in IPv6, too" " ([12][0-9][0-9]|300) received" cat "${ping_log}6"
wait_for "it is gone" rows 'n4/vlb +gone' 1
wait_for "all others are reached all the same" rows 'n[0-3]/vlb +active +3/3' 4
wait_for "two know of a dead cable" rows 'n[01]/vlb +active +3/3 +3/4' 2
all_reach "every host reaches the next, round the dead node"

# Node 10 drains, in the half that is broken already, for the other two hosts.
"$clique" cluster drain --name "$name" n10/vlb
wait_for "a node between has left" rows 'n10/vlb +left' 1
wait_for "all are reached without it" rows 'n[0-3]/vlb +active +3/3' 4
all_reach "every host reaches the next without it"

"$clique" cluster down --name "$name"
wait "$up" || fail "the cluster ended with status $?"
[ ! -e "/run/clique-cluster-$name" ] && ! ip netns list | grep -q "^$name-" ||
  fail "something is left: $(ls /run | grep "$name"; ip netns list | grep "$name")"
echo "ok: down leaves nothing behind"
