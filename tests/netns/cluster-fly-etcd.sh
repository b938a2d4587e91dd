#!/usr/bin/env bash
# A 2-ary 2-fly with its roster from etcd: a node between drains because the roster says so, etcd dies and comes back. Not a packet is lost by
# that, in IPv4 or IPv6. About 15 s.
source "$(dirname "$0")/lib.sh" etcd etcdctl
source "$(dirname "$0")/cluster-lib.sh"
source "$(dirname "$0")/etcd-lib.sh"
trap finish_with_etcd EXIT
build_fly
build_beside
start_etcd
put_roster 2
for i in $(seq 0 11); do
  # How soon failures are noticed is not what this is about: on a busy machine no node shall be given up.
  sed "s/HOLD 200ms/HOLD 600ms/" "$work/n$i.click" >"$work/run$i.click"
  echo "etcd :: EtcdRoster(vlb, SERVER 10.254.0.100:2379, CACHE $work/roster$i, TTL 2);" >>"$work/run$i.click"
  run_fly_node "$i" "$work/run$i.click"
done
await_fly
all_have() { local i; for i in $(seq 0 11); do wait_for "node $i has version $1" version_is "$i" "$1" >/dev/null; done; }
all_have 2
wait_for "etcd knows of twelve nodes that take part" eval '[ "$(members | grep -c "phase active")" = 12 ]'
meet 2

# Node 4 is on the way from host 0 to host 2.
drain() {
  put_roster 3 4
  await 4 'left'
}
pings "a node between drains, as etcd says" 2 drain
put_roster 4
await_fly
all_have 4
without() {
  local i
  kill_etcd
  for i in 0 4 11; do wait_for "node $i is without etcd" connected_is $i false; done
  sleep 3 # longer than the lease
}
pings "etcd is killed" 2 without
back() {
  start_etcd
  put_roster 5
  all_have 5
}
pings "etcd comes back" 2 back
for to in 10.0.3.2 2001:db8:3::2; do
  in_host 3 timeout 20 iperf3 -s -1 >/dev/null 2>&1 &
  sleep 0.3
  says "iperf3 to $to" "receiver" in_host 0 timeout 10 iperf3 -c "$to" -t 1
done
