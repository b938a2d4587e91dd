#!/usr/bin/env bash
# conf/cluster-node.click four times, on two workers each, in namespaces of their own with a cable between any two: one router to four
# hosts, in IPv4 and IPv6.
source "$(dirname "$0")/lib.sh"
source "$(dirname "$0")/cluster-lib.sh"
trap finish_cluster EXIT
build_cluster

run() { run_node "$1" conf/cluster-node.click ORDER="${ORDER:-FLOWLET}"; }

for i in 0 1 2 3; do run $i; done
for i in 0 1 2 3; do await $i 'active +3/3'; done
for i in 0 1 2 3; do
  j=$(((i + 1) % 4))
  # Each end is asked for its address first.
  for to in 10.0.$j.2 2001:db8:$j::2; do
    in_host $i ping -q -c 3 -i 0.3 -W 2 $to >/dev/null || true
    says "ping from $i to $to" " 0% packet loss" ip netns exec "$(host $i)" ping -c 3 -i 0.1 -W 2 $to
  done
done
says "a node's own addresses" " 0% packet loss" ip netns exec "$(host 0)" ping -c 3 -i 0.1 -W 2 10.0.0.1
says "in IPv6, too" " 0% packet loss" ip netns exec "$(host 0)" ping -c 3 -i 0.1 -W 2 2001:db8:0::1
says "in fragments" " 0% packet loss" ip netns exec "$(host 0)" ping -c 3 -i 0.1 -W 2 -s 3000 10.0.0.1
says "in fragments of IPv6" " 0% packet loss" ip netns exec "$(host 0)" ping -c 3 -i 0.1 -W 2 -s 3000 2001:db8:0::1
says "one router: one hop" "^ *2 .*10.0.2.2" ip netns exec "$(host 0)" traceroute -n -w 2 -q 1 -N 1 10.0.2.2
says "in IPv6, too" "^ *2 .*2001:db8:2::2" ip netns exec "$(host 0)" traceroute -6 -n -w 2 -q 1 -N 1 2001:db8:2::2
ip netns exec "$(host 2)" timeout 20 iperf3 -s -1 >/dev/null 2>&1 &
sleep 0.3
says "iperf3" "receiver" ip netns exec "$(host 0)" timeout 10 iperf3 -c 10.0.2.2 -t 1
ip netns exec "$(host 2)" timeout 20 iperf3 -s -1 >/dev/null 2>&1 &
sleep 0.3
says "iperf3 over IPv6" "receiver" ip netns exec "$(host 0)" timeout 10 iperf3 -c 2001:db8:2::2 -t 1

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
run 1
await 1 'active +2/3'
says "a node that returns" " 0% packet loss" ip netns exec "$(host 0)" ping -c 3 -i 0.1 -W 2 10.0.1.2
