#!/usr/bin/env bash
# clique cluster up --nat: connections that nodes of two workers translate go on when a node drains, and when one is killed, and so do those in
# IPv6, which none translates. With WITHOUT=state nodes keep no flows of others, and the test has to fail. About 20 s.
source "$(dirname "$0")/lib.sh"
name=st$$
helpers=()
finish_state() {
  local pid failed=$?
  [ $failed = 0 ] || show
  for pid in "${helpers[@]}"; do kill "$pid" 2>/dev/null || true; done
  "$clique" cluster down --name "$name" >/dev/null 2>&1 || true
  finish
}
trap finish_state EXIT
host() { ip netns exec "$name-h$1" "${@:2}"; }
of() { timeout 5 "$clique" ctl -u "/run/clique-cluster-$name/n$1.sock" read "$2" 2>/dev/null; }
is() { [ "$(of "$1" "$2")" = "$3" ]; } # NODE HANDLER VALUE
holds() { of "$1" state.holds | grep -Eq "^$2 [1-9]"; } # NODE OWNER
held() { local node; for node in 1 2 3; do ! holds $node "$1" || return 0; done; return 1; } # OWNER: whether any other node holds its flows
# acts_for NODE...: which other node acts for all of these, into $heir. It is the next one, or the one behind that, if the next had no time for its
# hellos just before: eight workers share this machine's processors.
acts_for() {
  local of
  for heir in 1 2 3; do
    for of in "$@"; do [[ " $(of $heir state.duties) " == *" $of "* ]] || continue 2; done
    return 0
  done
  return 1
}

show() { # what nodes know, when the test has failed
  local i handler
  for i in 0 1 2 3; do
    for handler in vlb.phase vlb.view vlb.given_up state.successor state.streams state.duties state.holds state.acting; do
      echo "n$i $handler: $(of $i $handler | tr '\n' ';')"
    done
  done
}

"$clique" cluster up --local 4 --nat -j "${workers:-2}" --name "$name" >"$work/log" 2>&1 &
wait_for "all nodes act for themselves" eval '[ "$(of 0 state.acting; of 3 state.acting)" = "$(printf "0 0\n1 1\n2 2\n3 3\n0 0\n1 1\n2 2\n3 3")" ]'
wait_for "and have successors" eval 'is 0 state.successor 1 && is 1 state.successor 2 && is 3 state.successor 0'
if [ -n "${WITHOUT:-}" ]; then
  for i in 0 1 2 3; do "$clique" ctl -u "/run/clique-cluster-$name/n$i.sock" write state.limit 0; done
  held() { true; }
fi
says "hosts reach each other" " 0% packet loss" host 0 ping -q -c 3 -i 0.1 -W 2 10.0.2.2
says "in fragments, too" " 0% packet loss" host 0 ping -q -c 3 -i 0.1 -W 2 -s 4000 10.0.2.2
says "in IPv6, too" " 0% packet loss" host 0 ping -q -c 3 -i 0.1 -W 2 2001:db8:2::2
says "one router: one hop, and errors find who caused them" "^ *2 .*10.0.2.2" host 0 traceroute -n -w 2 -q 1 -N 1 10.0.2.2
says "one hop in IPv6" "^ *2 .*2001:db8:2::2" host 0 traceroute -6 -n -w 2 -q 1 -N 1 2001:db8:2::2

# Transfers from host 0 to host 2: iperf3 all the time, and downloads of a file that come slowly.
head -c 3000000 /dev/zero >"$work/file"
host 2 iperf3 -s >/dev/null 2>&1 & helpers+=($!)
host 2 iperf3 -s -p 5202 >/dev/null 2>&1 & helpers+=($!)
(cd "$work" && exec ip netns exec "$name-h2" python3 -m http.server 8000 >/dev/null 2>&1) & helpers+=($!)
wait_for "a web server" host 0 curl -s -o /dev/null --max-time 2 http://10.0.2.2:8000/log
iperf() { # SECONDS
  host 0 iperf3 -c 10.0.2.2 -t "$1" -b 20M --connect-timeout 3000 >"$work/iperf" 2>&1 & iperf=$!
  host 0 iperf3 -c 2001:db8:2::2 -p 5202 -t "$1" -b 20M --connect-timeout 3000 >"$work/iperf6" 2>&1 & iperf6=$!
}
downloads() {
  local i
  gets=()
  for i in 1 2 3 4; do
    host 0 curl -sS --limit-rate 700k -o "$work/got$i" --max-time 12 http://10.0.2.2:8000/file >"$work/curl$i" 2>&1 & gets+=($!)
  done
}
done_well() { # WHAT
  local i
  wait "$iperf" || fail "$1: iperf3: $(cat "$work/iperf")"
  grep -q receiver "$work/iperf" || fail "$1: iperf3: $(cat "$work/iperf")"
  wait "$iperf6" || fail "$1: iperf3 over IPv6: $(cat "$work/iperf6")"
  grep -q receiver "$work/iperf6" || fail "$1: iperf3 over IPv6: $(cat "$work/iperf6")"
  for i in 1 2 3 4; do
    wait "${gets[i - 1]}" || fail "$1: download $i: $(cat "$work/curl$i")"
    cmp -s "$work/file" "$work/got$i" || fail "$1: download $i is not the file"
  done
  echo "ok: $1"
}

iperf 5
downloads
sleep 1
held 0 || fail "no node keeps flows of node 0"
"$clique" cluster drain --name "$name" n0/vlb >/dev/null
wait_for "node 0 has left" is 0 vlb.phase left
wait_for "another node acts for it" acts_for 0
first=$heir
done_well "no connection breaks when a node drains"
for count in lost contended; do is $first state.$count 0 || fail "$count: $(of $first state.$count)"; done

# Now that one translates for host 0, and dies.
iperf 5
downloads
sleep 1
held $first || fail "no node keeps flows of node $first"
kill -9 "$(cat "/run/clique-cluster-$name/n$first.pid")"
wait_for "another node acts for both" acts_for 0 $first
done_well "no connection that is older than a tenth of a second breaks when a node is killed"
is $heir state.lost 0 || fail "lost: $(of $heir state.lost)"
says "fragments reach who acts for both" " 0% packet loss" host 0 ping -q -c 3 -i 0.1 -W 2 -s 4000 10.0.3.2
says "new connections, too" " 0% packet loss" host 0 ping -q -c 3 -i 0.1 -W 2 10.0.3.2
says "and those in IPv6" " 0% packet loss" host 0 ping -q -c 3 -i 0.1 -W 2 2001:db8:3::2
