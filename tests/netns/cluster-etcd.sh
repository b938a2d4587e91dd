#!/usr/bin/env bash
# The nodes of cluster.sh with their roster from etcd: it changes while packets flow, etcd dies, a node starts without it, etcd comes
# back. Not a packet is lost by any of that, in IPv4 or IPv6. About 25 s.
source "$(dirname "$0")/lib.sh" etcd etcdctl
source "$(dirname "$0")/cluster-lib.sh"
source "$(dirname "$0")/etcd-lib.sh"
trap finish_with_etcd EXIT
build_cluster
build_beside

start_etcd
password=secret-$$
printf '%s\n' "$password" | etcdctl user add root --interactive=false >/dev/null
etcdctl user grant-role root root >/dev/null
etcdctl auth enable >/dev/null
export ETCDCTL_USER=root:$password
(umask 077 && echo "root:$password" >"$work/credentials")
put_roster 2

cat "$root/conf/cluster-node.click" - >"$work/node.click" <<'END'
define($CACHE roster, $CREDENTIALS credentials);
etcd :: EtcdRoster(vlb, SERVER 10.254.0.100:2379, CACHE $CACHE, CREDENTIALS $CREDENTIALS, TTL 3);
END
run() { run_node "$1" "$work/node.click" CACHE="$work/roster$1" CREDENTIALS="$work/credentials" SCHEME=VALIANT ORDER=NONE; }
for i in 0 1 2 3; do run $i; done
for i in 0 1 2 3; do await $i 'active +3/3'; done
for i in 0 1 2 3; do wait_for "node $i has its roster from etcd" version_is $i 2; done
says "the password is in no process's arguments" "^0$" bash -c "cat /proc/[0-9]*/cmdline | tr '\0' '\n' | grep -c '^root:$password' || true"
wait_for "etcd knows of four nodes that take part" eval '[ "$(members | grep -c "phase active")" = 4 ]'
meet 1
meet 2

drain() {
  put_roster 3 3
  await 3 'left'
}
pings "node 3 drains, as etcd says" 1 drain
kill -9 "${pids[3]}"
wait "${pids[3]}" 2>/dev/null || true
wait_for "its lease runs out" eval '[ "$(members | grep -c "^phase")" = 3 ]'
put_roster 4
run 3
await 3 'active +3/3'
for i in 0 1 2 3; do wait_for "node $i has the next roster" version_is $i 4; done

without() {
  kill_etcd
  for i in 0 1 2 3; do wait_for "node $i is without etcd" connected_is $i false; done
  sleep 4 # longer than the lease
}
pings "etcd is killed" 2 without
kill -9 "${pids[1]}"
wait "${pids[1]}" 2>/dev/null || true
run 1
await 1 'active +3/3'
version_is 1 4 || fail "node 1 has not kept its roster"
echo "ok: a node that starts without etcd has the roster that it had"
meet 1
says "and forwards" " 0% packet loss" in_host 0 ping -q -c 20 -i 0.02 -W 2 10.0.1.2
says "IPv6, too" " 0% packet loss" in_host 0 ping -q -c 20 -i 0.02 -W 2 2001:db8:1::2

back() {
  start_etcd
  for i in 0 1 2 3; do wait_for "node $i is with etcd again" connected_is $i true; done
  put_roster 5
  for i in 0 1 2 3; do wait_for "node $i has a roster of after that" version_is $i 5; done
}
pings "etcd comes back" 2 back
for to in 10.0.3.2 2001:db8:3::2; do
  in_host 3 timeout 20 iperf3 -s -1 >/dev/null 2>&1 &
  sleep 0.3
  says "iperf3 to $to" "receiver" in_host 0 timeout 10 iperf3 -c "$to" -t 1
done
