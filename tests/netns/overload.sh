#!/usr/bin/env bash
# A data path that gets more than it can take: hellos of FRR's BFD (3 x 50 ms) and OSPF, which come through Clique, do not notice; floods of
# ARP and neighbour discovery neither stall connections nor vanish without being counted. About a minute.
source "$(dirname "$0")/lib.sh"

command -v python3 >/dev/null || skip "python3 is not installed"
build
flood() { in_h1 python3 "$(dirname "$0")/flood.py" h1e 02:00:00:00:01:01 "$@"; } # KIND TARGET RATE SECONDS

# frames_at INTERFACE: frames that the router's interface has received.
frames_at() { in_r cat "/sys/class/net/$1/statistics/rx_packets"; }
# counted ELEMENT: frames that this element has received, and those that it has counted as dropped, with the kernel's.
counted() { echo $(($(ctl read "$1.count") + $(ctl read "$1.drop_reasons" | awk '{ sum += $1 } END { print sum + 0 }'))); }
# all_counted WHAT ELEMENT INTERFACE FRAMES: since there were so many frames at the interface, all of which were counted, all have been.
all_counted() {
  local what=$1 element=$2 interface=$3 before=$4 until=$((SECONDS + 10)) arrived=0 seen=-1
  while [ $SECONDS -lt $until ] && [ "$arrived" != "$seen" ]; do
    sleep 0.5
    ctl read "$element.kernel_drops" >/dev/null
    seen=$(counted "$element")
    arrived=$(($(frames_at "$interface") - before))
  done
  [ "$arrived" = "$seen" ] || fail "$what: $arrived frames, $seen counted: $(ctl read "$element.drop_reasons")"
  echo "ok: $what: each of $arrived frames is counted; $(ctl read "$element.drop_reasons" | tr '\n' ';')"
}

# Hosts ask and ask while others talk.
for workers in 1 2; do
  start -j$workers -u "$work/socket" "$root/conf/linux-router.click"
  from=$(ctl read list | grep 'p0/FromDevice') || fail "no FromDevice in $(ctl read list)"
  start_count=$(($(frames_at eth0) - $(counted "$from")))
  arp_flood() { flood arp 10.0.1.1 60000 4; }
  nd_flood() { flood nd 2001:db8:1::1 60000 4; }
  lossless "a flood of ARP requests on $workers workers" 10.0.2.2 arp_flood
  lossless "a flood of neighbour solicitations on $workers workers" 10.0.2.2 nd_flood
  flood data 203.0.113.1 100000 2 >/dev/null
  all_counted "floods of data, ARP and neighbour discovery" "$from" eth0 "$start_count"
  arp_flood >/dev/null &
  sleep 1
  ip -n "$h1" neigh flush dev h1e
  ip -n "$h2" neigh flush dev h2e
  says "during a flood the router answers who asks" " [1-9][0-9]* received" in_h1 ping -c 20 -i 0.1 -W 1 10.0.2.2
  wait $!
  stop
done

source "$(dirname "$0")/frr-lib.sh"
[ -x $frr/bfdd ] || skip "FRR has no bfdd here"
[ -x $frr/ospfd ] || skip "FRR has no ospfd here"

# The router's host is behind Clique: its address is on an interface of Clique's, and all that the wire brings comes through Clique, which has
# hard work with everything but hellos and ARP.
cat >"$work/work.click" <<'CLICK'
elementclass Work { $work |
  input -> Script(TYPE PACKET, init n 0, set n 0, label again, set n $(add $n 1), goto again $(lt $n $work), return 0) -> output;
}
CLICK
cat "$work/work.click" - >"$work/host.click" <<'CLICK'
define($METHOD LINUX, $WORK 10);
tap :: KernelTap(10.0.1.1/24, ETHER 02:00:00:00:01:01, DEVNAME host0) -> ToDevice(eth0, METHOD $METHOD);
from :: FromDevice(eth0, METHOD $METHOD, SNIFFER false)
  -> kind :: Classifier(12/0806, 12/0800 23/59, 12/0800 23/11 36/0ec8, -);
kind[0] -> arp :: Counter -> tap;
kind[1] -> ospf :: Counter -> tap;
kind[2] -> bfd :: Counter -> tap;
kind[3] -> data :: Counter -> Work($WORK) -> Discard;
CLICK
# As much work as takes 200 us of processor time a packet here: what else runs now does not count.
used=$(TIMEFORMAT=%U; { time "$clique" run -e "$(cat "$work/work.click") InfiniteSource(LIMIT 2000, STOP true) -> Work(100) -> Discard" >/dev/null 2>&1; } 2>&1)
rounds=$(awk "BEGIN { print int(100 * 0.4 / ($used + 0.001)) + 1 }")

frr_in "$h1" "$r"
speaks() { # NAMESPACE ID INTERFACE PEER
  printf 'interface %s\n ip ospf area 0\n ip ospf hello-interval 1\n ip ospf dead-interval 4\n ip ospf network point-to-point\nrouter ospf\n ospf router-id %s\n' \
    "$3" "$2" >"$work/$1/ospfd.conf"
  printf 'bfd\n peer %s interface %s\n  detect-multiplier 3\n  receive-interval 50\n  transmit-interval 50\n' "$4" "$3" >"$work/$1/bfdd.conf"
}
speaks "$h1" 1.1.1.1 h1e 10.0.1.1
speaks "$r" 9.9.9.9 host0 10.0.1.2

bfd_peers() { [ "$(vty "$r" "show bfd peers" | grep -c 'Status: up')" = 1 ]; }
ospf_neighbours() { [ "$(vty "$r" "show ip ospf neighbor" | grep -c Full)" = 1 ]; }
flaps() { vty "$r" "show bfd peers counters" | sed -n 's/.*Session down events: //p'; }
since() { vty "$r" "show ip ospf neighbor detail" | sed -n 's/.*State change statistics: \([0-9]*\).*/\1/p;s/.*\([0-9][0-9]*\) state change.*/\1/p' | head -n 1; }

# calm WHAT COMMAND...: neither BFD nor OSPF flaps meanwhile. A machine that has no time for bfdd itself gets a second and a third chance.
calm() {
  local what=$1 down changes
  shift
  for _ in 1 2 3; do
    down=$(flaps) changes=$(since)
    "$@" >/dev/null
    if [ "$(flaps)" = "$down" ] && [ "$(since)" = "$changes" ]; then
      echo "ok: $method: neither BFD nor OSPF flaps under $what"
      return
    fi
    WAIT=60 wait_for "$method: BFD is up again" bfd_peers
    WAIT=60 wait_for "$method: OSPF has a neighbour again" ospf_neighbours
  done
  [ "$what" != "no flood" ] || skip "this machine is too busy for BFD with 3 x 50 ms"
  fail "$method: BFD has gone down $(flaps) times, OSPF has changed $(since) times under $what"
}

for method in LINUX XDP; do
  launch -j1 -u "$work/socket" "$work/host.click" METHOD=$method WORK=$rounds
  if [ $method = LINUX ]; then
    for namespace in "$h1" "$r"; do
      daemon "$namespace" zebra
      wait_for "zebra runs" test -S "$work/$namespace/zserv"
      daemon "$namespace" bfdd
      daemon "$namespace" ospfd
    done
  fi
  WAIT=60 wait_for "$method: BFD is up, through Clique" bfd_peers
  WAIT=60 wait_for "$method: OSPF has a neighbour" ospf_neighbours
  # What else runs on this machine is not what is tried here.
  { ip netns pids "$h1"; ip netns pids "$r"; } | xargs -r renice -n -15 -p >/dev/null
  calm "no flood" sleep 6
  calm "a flood of data" flood data 203.0.113.1 12000 6
  [ "$(ctl read from.kernel_drops)" -gt 5000 ] || fail "the data path was not overloaded"
  calm "a flood of ARP" flood arp 10.0.1.77 30000 6
  stop
done
