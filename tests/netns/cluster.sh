#!/usr/bin/env bash
# conf/cluster-node.click four times, in namespaces of their own with a cable between any two: one router to four hosts.
source "$(dirname "$0")/lib.sh"

node() { echo "c$1-$$"; }
host() { echo "g$1-$$"; }
pids=()

finish() {
  for pid in "${pids[@]}"; do kill -9 "$pid" 2>/dev/null || true; done
  wait 2>/dev/null || true
  for i in 0 1 2 3; do ip netns del "$(node $i)" 2>/dev/null || true; ip netns del "$(host $i)" 2>/dev/null || true; done
  ip netns del "$r" 2>/dev/null || true
  rm -rf "$work"
}

for i in 0 1 2 3; do
  ip netns add "$(node $i)"
  ip netns add "$(host $i)"
  ip netns exec "$(node $i)" sysctl -qw net.ipv6.conf.default.disable_ipv6=1 net.ipv6.conf.all.disable_ipv6=1
  ip link add port netns "$(host $i)" address 02:00:00:00:0$i:02 type veth peer name ext netns "$(node $i)" \
    address 02:00:00:00:0$i:01
  ip netns exec "$(host $i)" ethtool -K port tso off gso off tx off >/dev/null
  ip -n "$(node $i)" link set ext up
  ip -n "$(host $i)" link set lo up
  ip -n "$(host $i)" link set port up
  ip -n "$(host $i)" addr add 10.0.$i.2/24 dev port
  ip -n "$(host $i)" route add default via 10.0.$i.1
done
for i in 0 1 2 3; do
  for j in 0 1 2 3; do
    [ $i -lt $j ] || continue
    ip link add name l$j netns "$(node $i)" type veth peer name l$i netns "$(node $j)"
    ip -n "$(node $i)" link set l$j mtu 1600 up
    ip -n "$(node $j)" link set l$i mtu 1600 up
  done
done
head -c 32 /dev/urandom >"$work/key"

run() { # NODE
  local others=() j
  for j in 0 1 2 3; do [ $j = "$1" ] || others+=(IF$((${#others[@]} + 1))=l$j); done
  ip netns exec "$(node "$1")" "$clique" run -u "$work/socket$1" "$root/conf/cluster-node.click" NODE="$1" EXT=ext \
    "${others[@]}" KEYFILE="$work/key" ORDER="${ORDER:-FLOWLET}" LINE_RATE=1Gbps >>"$work/log" 2>&1 &
  pids[$1]=$!
}

status() { timeout 5 "$clique" cluster status -u "$work/socket$1" 2>&1; }
await() { # NODE PATTERN
  for _ in $(seq 60); do
    if grep -Eq "$2" <<<"$(status "$1")"; then return; fi
    sleep 0.1
  done
  fail "node $1 is not '$2': $(status "$1")"
}

for i in 0 1 2 3; do run $i; done
for i in 0 1 2 3; do await $i 'active +3/3'; done
for i in 0 1 2 3; do
  j=$(((i + 1) % 4))
  says "ping from $i to $j" " 0% packet loss" ip netns exec "$(host $i)" ping -c 3 -i 0.1 -W 2 10.0.$j.2
done
says "one router: one hop" "^ *2 .*10.0.2.2" ip netns exec "$(host 0)" traceroute -n -w 2 -q 1 10.0.2.2
ip netns exec "$(host 2)" timeout 20 iperf3 -s -1 >/dev/null 2>&1 &
sleep 0.3
says "iperf3" "receiver" ip netns exec "$(host 0)" timeout 10 iperf3 -c 10.0.2.2 -t 2

# The cable between 0 and 2 is cut: by way of others it goes on, after about 70 ms on a machine that is not busy.
says "a cut cable costs little" " (8[5-9]|9[0-9]|100) received" ip netns exec "$(host 0)" bash -c "
  (sleep 0.3; ip -n $(node 0) link set l2 down) & ping -q -c 100 -i 0.01 -W 1 10.0.2.2"
await 0 'active +2/3'
ip -n "$(node 0)" link set l2 up
await 0 'active +3/3'

# Node 3 leaves while others use it, without loss.
says "draining loses nothing" " 0% packet loss" ip netns exec "$(host 0)" bash -c "
  (sleep 0.2; $clique cluster drain -u $work/socket3 vlb) & ping -q -c 100 -i 0.01 -W 1 10.0.1.2"
await 3 'left'

# Node 1 is killed and comes back.
disown "${pids[1]}"
kill -9 "${pids[1]}"
await 0 'active +1/3'
says "the others go on" " 0% packet loss" ip netns exec "$(host 0)" ping -c 3 -i 0.1 -W 2 10.0.2.2
rm -f "$work/socket1"
run 1
await 1 'active +2/3'
says "a node that returns" " 0% packet loss" ip netns exec "$(host 0)" ping -c 3 -i 0.1 -W 2 10.0.1.2
