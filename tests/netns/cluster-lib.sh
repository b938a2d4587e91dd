# Four nodes, each in a namespace with a cable to each other, and a host at each. Sourced behind lib.sh.

node() { echo "c$1-$$"; }
host() { echo "g$1-$$"; }
in_node() { local i=$1; shift; ip netns exec "$(node "$i")" "$@"; }
in_host() { local i=$1; shift; ip netns exec "$(host "$i")" "$@"; }
pids=()

finish_cluster() {
  local pid i
  for pid in "${pids[@]}" "${feeds[@]}"; do kill -9 "$pid" 2>/dev/null || true; done
  wait 2>/dev/null || true
  for i in 0 1 2 3; do
    ip netns del "$(node $i)" 2>/dev/null || true
    ip netns del "$(host $i)" 2>/dev/null || true
  done
  ip netns del "$r" 2>/dev/null || true
  rm -rf "$work"
}

build_cluster() {
  local i j
  for i in 0 1 2 3; do
    ip netns add "$(node $i)"
    ip netns add "$(host $i)"
    in_node $i sysctl -qw net.ipv6.conf.default.disable_ipv6=1 net.ipv6.conf.all.disable_ipv6=1
    ip link add port netns "$(host $i)" address 02:00:00:00:0$i:02 type veth peer name ext netns "$(node $i)" \
      address 02:00:00:00:0$i:01
    in_host $i ethtool -K port tso off gso off tx off >/dev/null
    ip -n "$(node $i)" link set lo up
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
      ip -n "$(node $i)" link set l$j up
      ip -n "$(node $j)" link set l$i up
    done
  done
  (umask 077 && head -c 32 /dev/urandom >"$work/key")
}

# run_node NODE CONFIGURATION ARGUMENTS...: the links are given as IF1, IF2 and IF3. The file is named from the root of the source.
run_node() {
  local i=$1 configuration=$root/$2 others=() j
  [ "${2#/}" = "$2" ] || configuration=$2
  shift 2
  for j in 0 1 2 3; do [ $j = "$i" ] || others+=(IF$((${#others[@]} + 1))=l$j); done
  rm -f "$work/socket$i"
  ip netns exec "$(node "$i")" "$clique" run -u "$work/socket$i" "$configuration" NODE="$i" EXT=ext "${others[@]}" \
    KEYFILE="$work/key" LINE_RATE=1Gbps "$@" >>"$work/log" 2>&1 &
  pids[i]=$!
}

status() { timeout 5 "$clique" cluster status -u "$work/socket$1" 2>&1; }
await() { # NODE PATTERN
  for _ in $(seq 100); do
    if grep -Eq "$2" <<<"$(status "$1")"; then return; fi
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
