#!/usr/bin/env bash
# clique cluster up, status, drain and down: four processes of two workers each in namespaces that are one router, tried by the hosts behind
# them. About 25 s.
source "$(dirname "$0")/lib.sh"
name=up$$
finish_up() {
  "$clique" cluster down --name "$name" >/dev/null 2>&1 || true
  finish
}
trap finish_up EXIT
host() { ip netns exec "$name-h$1" "${@:2}"; }
status() { timeout 10 "$clique" cluster status --name "$name" 2>&1; }
rows() { [ "$(status | grep -Ec "$1")" = "$2" ]; } # PATTERN COUNT
up() {
  "$clique" cluster up --local 4 -j "${workers:-2}" --name "$name" "$@" >"$work/log" 2>&1 &
  up=$!
}
# Second workers of all nodes, by the names of threads.
second_workers() { cat "/run/clique-cluster-$name"/n*.pid | while read -r pid; do cat "/proc/$pid"/task/*/comm; done | grep -cx "worker 1"; }
gone() { [ ! -e "/run/clique-cluster-$name" ] && ! ip netns list | grep -q "^$name-"; }

up --trial
wait_for "all hosts have tried it" eval '[ "$(grep -c receiver "$work/log")" = 2 ]'
says "every host reaches the next, in IPv4 and IPv6" "^8$" grep -c " 0% packet loss" "$work/log"
says "one router: one hop" "hop 2 +10.0.3.2" cat "$work/log"
says "in IPv6, too" "hop 2 +2001:db8:3::2" cat "$work/log"
wait_for "four nodes take part" rows 'n[0-3]/vlb +active +3/3' 4
says "each runs two workers" "^4$" second_workers
says "a second one of the name is refused" "is there already" "$clique" cluster up --local 2 --name "$name"
says "a node that is not there" "no node 'n7/vlb'" "$clique" cluster drain --name "$name" n7/vlb

says "draining loses nothing" " 0% packet loss" host 0 bash -c "
  (sleep 0.2; $clique cluster drain --name $name n3/vlb) & ping -q -c 100 -i 0.01 -W 1 2001:db8:1::2 & ping -q -c 100 -i 0.01 -W 1 10.0.1.2; wait"
wait_for "it has left" rows 'n3/vlb +left' 1
kill -9 "$(cat "/run/clique-cluster-$name/n1.pid")"
wait_for "a node that was killed is gone" rows 'n1/vlb +gone' 1
wait_for "and the others know it" rows 'n[02]/vlb +active +1/3' 2
says "the others go on" " 0% packet loss" host 0 ping -q -c 5 -i 0.1 -W 2 10.0.2.2
says "in IPv6, too" " 0% packet loss" host 0 ping -q -c 5 -i 0.1 -W 2 2001:db8:2::2
"$clique" cluster down --name "$name"
wait "$up" || fail "the cluster ended with status $?"
gone || fail "something is left: $(ls /run | grep "$name"; ip netns list | grep "$name")"
echo "ok: down leaves nothing behind"

up
wait_for "up again" rows 'n[0-3]/vlb +active +3/3' 4
disown "$up"
kill -9 "$up"
"$clique" cluster down --name "$name"
gone || fail "something is left: $(ls /run | grep "$name"; ip netns list | grep "$name")"
echo "ok: also when the program was killed"

"$clique" cluster up --local 2 --name "$name" --seconds 4 --json >"$work/json" 2>"$work/log" &
up=$!
wait_for "where everything is, as JSON" grep -q '"host_address": "10.0.1.2"' "$work/json"
says "draining, as JSON" '"phase": "draining"' "$clique" cluster drain --name "$name" --json n1/vlb
says "down, as JSON" '"name": "'"$name"'"' "$clique" cluster down --name "$name" --json
wait "$up" || fail "the cluster ended with status $?"
[ "$(head -n 1 "$work/json")" = "{" ] && [ "$(tail -n 1 "$work/json")" = "}" ] || fail "something else was printed"

up --seconds 2
wait "$up" || fail "the cluster ended with status $?"
gone || fail "something is left when its time is over"
echo "ok: its time is over"
