# etcd beside a cluster in namespaces, and rosters in it. Sourced behind cluster-lib.sh.

etcd=
finish_with_etcd() {
  [ -z "$etcd" ] || kill -9 "$etcd" 2>/dev/null || true
  finish_cluster
}

# A network beside the cluster's, for etcd: it is in $r, the nodes are at a bridge there.
build_beside() {
  local i
  ip -n "$r" link add bridge type bridge
  ip -n "$r" link set bridge up
  ip -n "$r" link set lo up
  ip -n "$r" addr add 10.254.0.100/24 dev bridge
  for i in $(seq 0 $((nodes - 1))); do
    ip link add name beside netns "$(node "$i")" type veth peer name "b$i" netns "$r"
    ip -n "$(node "$i")" addr add "10.254.0.$((10 + i))/24" dev beside
    ip -n "$(node "$i")" link set beside up
    ip -n "$r" link set "b$i" master bridge up
  done
}

start_etcd() {
  ip netns exec "$r" etcd --data-dir "$work/etcd" --listen-client-urls http://10.254.0.100:2379 --advertise-client-urls http://10.254.0.100:2379 \
    --listen-peer-urls http://127.0.0.1:2380 >>"$work/etcd.log" 2>&1 &
  etcd=$!
  wait_for "etcd is there" eval 'etcdctl endpoint health >/dev/null 2>&1'
}
kill_etcd() {
  disown "$etcd"
  kill -9 "$etcd"
  etcd=
}
etcdctl() { ETCDCTL_API=3 ETCDCTL_ENDPOINTS=http://10.254.0.100:2379 in_r etcdctl "$@"; }
roster() { # VERSION [NODE_THAT_DRAINS]
  local i
  echo "version $1"
  for i in $(seq 0 $((nodes - 1))); do echo "node $i n$i ports 1$([ "${2:-}" != "$i" ] || echo " drain")"; done
}
put_roster() { etcdctl put /clique/roster -- "$(roster "$@")" >/dev/null; }
members() { etcdctl get --prefix /clique/members/ 2>/dev/null; }
node_ctl() { timeout 5 "$clique" ctl -u "$work/socket$1" "${@:2}" 2>&1; }
version_is() { [ "$(node_ctl "$1" read vlb.roster | head -n 1)" = "version $2" ]; }
connected_is() { [ "$(node_ctl "$1" read etcd.connected)" = "$2" ]; }

address_4() { echo "10.0.$1.2"; } # NODE
address_6() { echo "2001:db8:$1::2"; } # NODE

# pings WHAT NODE COMMAND...: while it runs, no ping to the node's host is lost, in IPv4 or IPv6.
pings() {
  local what=$1 to=$2 file pinging=()
  shift 2
  for file in 4 6; do
    ip netns exec "$(host 0)" ping -q -i 0.01 -W 2 "$(address_$file "$to")" >"$work/pings$file" &
    pinging+=($!)
  done
  sleep 0.3
  "$@"
  kill -INT "${pinging[@]}"
  wait "${pinging[@]}" || true
  # The last one may still be under way.
  for file in "$work/pings4" "$work/pings6"; do
    awk -v what="$what" '/packets transmitted/ { lost = $1 - $4; bad = lost > 1 || $4 < 20
      printf "%s: %s: %d packets, %d lost\n", bad ? "FAILED" : "ok", what, $1, lost; exit bad }' "$file" || fail "$(tail -n 3 "$file")"
  done
}
# meet NODE: host 0 and the node's host learn of each other in both families.
meet() {
  local address
  for address in "$(address_4 "$1")" "$(address_6 "$1")"; do in_host 0 ping -q -c 3 -i 0.3 -W 2 "$address" >/dev/null || true; done
}
