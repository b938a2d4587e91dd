# Four nodes, each in a namespace with a cable to each other, or a fly of twelve, and a host at each of four. Sourced behind lib.sh.

node() { echo "c$1-$$"; }
host() { echo "g$1-$$"; }
in_node() { local i=$1; shift; ip netns exec "$(node "$i")" "$@"; }
in_host() { local i=$1; shift; ip netns exec "$(host "$i")" "$@"; }
pids=()

finish_cluster() {
  local status=$? unbalanced= pid i
  [ $status != 0 ] || [ -n "${failed:-}" ] || (nodes_are_balanced) || unbalanced=1
  for pid in "${pids[@]}" "${feeds[@]}"; do kill -9 "$pid" 2>/dev/null || true; done
  wait 2>/dev/null || true
  for i in $(seq 0 $((nodes - 1))); do
    ip netns del "$(node "$i")" 2>/dev/null || true
    ip netns del "$(host "$i")" 2>/dev/null || true
  done
  ip netns del "$r" 2>/dev/null || true
  rm -rf "$work"
  # Otherwise the status is the test's own.
  [ -z "$unbalanced" ] || exit 1
}

# Nodes that run hold no more than when a test first waited for them.
nodes_are_balanced() {
  local i
  for i in "${!pids[@]}"; do
    [ -z "${held[${pids[i]}]:-}" ] || ! kill -0 "${pids[i]}" 2>/dev/null || balanced "${pids[i]}" "$work/socket$i"
  done
}

nodes=4
add_node() {
  ip netns add "$(node "$1")"
  in_node "$1" sysctl -qw net.ipv6.conf.default.disable_ipv6=1 net.ipv6.conf.all.disable_ipv6=1
  ip -n "$(node "$1")" link set lo up
}
add_host() {
  ip netns add "$(host "$1")"
  ip link add port netns "$(host "$1")" address "02:00:00:00:0$1:02" type veth peer name ext netns "$(node "$1")" \
    address "02:00:00:00:0$1:01"
  in_host "$1" ethtool -K port tso off gso off tx off >/dev/null
  ip -n "$(node "$1")" link set ext up
  ip -n "$(host "$1")" link set lo up
  ip -n "$(host "$1")" link set port up
  ip -n "$(host "$1")" addr add "10.0.$1.2/24" dev port
  ip -n "$(host "$1")" route add default via "10.0.$1.1"
  ip -n "$(host "$1")" addr add "2001:db8:$1::2/64" dev port nodad
  ip -n "$(host "$1")" route add default via "2001:db8:$1::1"
}
add_cable() { # NODE NODE
  ip link add name "l$2" netns "$(node "$1")" type veth peer name "l$1" netns "$(node "$2")"
  ip -n "$(node "$1")" link set "l$2" up
  ip -n "$(node "$2")" link set "l$1" up
}
make_key() { (umask 077 && head -c 32 /dev/urandom >"$work/key"); }

build_cluster() {
  local i j
  for i in 0 1 2 3; do
    add_node $i
    add_host $i
  done
  for i in 0 1 2 3; do
    for j in 0 1 2 3; do [ $i -ge $j ] || add_cable $i $j; done
  done
  make_key
}

# A 2-ary 2-fly in its place: nodes 0 to 3 have hosts, 4 to 7 and 8 to 11 are between them. Their configurations, as those of `clique
# cluster up`, are in $work.
build_fly() {
  local i j
  nodes=12
  make_key
  "$clique" cluster up --local 4 --fly 2 --print |
    awk -v to="$work" -v key="$work/key" '/^\/\/ Node/ { file = to "/n" $3 ".click" } { sub(/KEYFILE KEYFILE/, "KEYFILE " key); print >file }'
  for i in $(seq 0 11); do add_node "$i"; done
  for i in 0 1 2 3; do add_host $i; done
  for i in $(seq 0 11); do
    for j in $(sed -n 's/^FromDevice(l\([0-9]*\),.*/\1/p' "$work/n$i.click"); do [ "$i" -ge "$j" ] || add_cable "$i" "$j"; done
  done
}

# run_fly_node NODE FILE: the configuration in FILE.
run_fly_node() {
  rm -f "$work/socket$1"
  ip netns exec "$(node "$1")" "$clique" run -j "${workers:-2}" -u "$work/socket$1" "$2" >>"$work/log" 2>&1 &
  pids[$1]=$!
}
await_fly() { # all take part, and all cables are whole
  local i
  for i in 0 1 2 3; do await $i 'active +3/3 +4/4'; done
  for i in $(seq 4 11); do await "$i" 'active +4/4 +4/4'; done
}

# run_node NODE CONFIGURATION ARGUMENTS...: the links are given as IF1, IF2 and IF3. The file is named from the root of the source.
run_node() {
  local i=$1 configuration=$root/$2 others=() j
  [ "${2#/}" = "$2" ] || configuration=$2
  shift 2
  for j in 0 1 2 3; do [ $j = "$i" ] || others+=(IF$((${#others[@]} + 1))=l$j); done
  rm -f "$work/socket$i"
  ip netns exec "$(node "$i")" "$clique" run -j "${workers:-2}" -u "$work/socket$i" "$configuration" NODE="$i" EXT=ext "${others[@]}" \
    KEYFILE="$work/key" LINE_RATE=1Gbps "$@" >>"$work/log" 2>&1 &
  pids[i]=$!
}

status() { timeout 5 "$clique" cluster status -u "$work/socket$1" 2>&1; }
await() { # NODE PATTERN
  for _ in $(seq 100); do
    if grep -Eq "$2" <<<"$(status "$1")"; then
      [ -z "${pids[$1]:-}" ] || [ -n "${held[${pids[$1]}]:-}" ] || holds "${pids[$1]}" "$work/socket$1"
      return
    fi
    sleep 0.1
  done
  fail "node $1 is not '$2': $(status "$1")"
}

# Traffic, made by Clique in hosts, whose kernels throw away what arrives: it comes from a network that they have a blackhole for.

# feed HOST SOURCES: SOURCES is Click whose IP packets are pushed to 'wire'.
feed() {
  local i=$1
  cat >"$work/feed$i.click" <<END
wire :: EtherEncap(0x0800, 02:00:00:00:0$i:02, 02:00:00:00:0$i:01) -> ToDevice(port);
$2
END
  ip netns exec "$(host "$i")" nice -n "${feed_nice:-0}" "$clique" run -u "$work/feed$i" "$work/feed$i.click" >>"$work/log" 2>&1 &
  feeds+=($!)
}
feeds=()
stop_feeds() {
  local pid
  for pid in "${feeds[@]}"; do
    kill "$pid" 2>/dev/null || true
    wait "$pid" 2>/dev/null || true
  done
  feeds=()
}
swallow() { ip -n "$(host "$1")" route replace blackhole 198.18.0.0/15; }
sent_by() { in_host "$1" cat /sys/class/net/port/statistics/tx_packets; }
arrived_at() { in_host "$1" cat /sys/class/net/port/statistics/rx_packets; }
of_node() { timeout 5 "$clique" ctl -u "$work/socket$1" read "$2"; } # NODE HANDLER
