#!/usr/bin/env bash
# conf/frr-router.click with routes from FRR: a BGP peer announces them, zebra tells Clique; zebra dies and comes back.
source "$(dirname "$0")/lib.sh"

frr=/usr/lib/frr
routes=${ROUTES:-20000}
[ -x $frr/zebra ] || skip "FRR is not installed (apt-get install frr)"
command -v vtysh >/dev/null || skip "vtysh is not installed"

# daemon NAMESPACE NAME ARGUMENTS...: one of FRR's, with files and sockets of its own.
daemon() {
  local namespace=$1 name=$2 directory=$work/$1
  shift 2
  ip netns exec "$namespace" $frr/"$name" -f "$directory/$name.conf" -i "$directory/$name.pid" \
    -z "$directory/zserv" --vty_socket "$directory" "$@" >"$directory/$name.log" 2>&1 &
}

vty() { vtysh --vty_socket "$work/$1" -c "$2"; }

wait_for() { # WHAT COMMAND...
  local what=$1
  shift
  for _ in $(seq 300); do
    "$@" && { echo "ok: $what"; return; }
    sleep 0.1
  done
  fail "$what"
}

# The daemons are not children of this shell alone: they may have gone into the background.
finish_frr() {
  pkill -9 -f -- "--vty_socket $work" 2>/dev/null || true
  finish
}
trap finish_frr EXIT

build
chmod 755 "$work" # the daemons are not root
install -d -o frr -g frr "$work/$r" "$work/$h2"
ip -n "$r" addr add 10.0.1.1/24 dev eth0
ip -n "$r" addr add 10.0.2.1/24 dev eth1
in_r sysctl -qw net.ipv4.ip_forward=0

# The router: zebra, which tells Clique, and bgpd.
cat >"$work/$r/zebra.conf" <<'END'
fpm address 127.0.0.1
END
cat >"$work/$r/bgpd.conf" <<'END'
router bgp 65001
 bgp router-id 10.0.1.1
 no bgp ebgp-requires-policy
 neighbor 10.0.2.2 remote-as 65002
 neighbor 10.0.2.2 timers connect 1
END
# The peer announces what its kernel has.
touch "$work/$h2/zebra.conf"
cat >"$work/$h2/bgpd.conf" <<'END'
router bgp 65002
 bgp router-id 10.0.2.2
 no bgp ebgp-requires-policy
 neighbor 10.0.2.1 remote-as 65001
 neighbor 10.0.2.1 timers connect 1
 address-family ipv4 unicast
  redistribute kernel
END
ip -n "$h2" addr add 203.0.113.1/32 dev lo
for i in $(seq "$routes"); do
  echo "route add 20.$((i >> 16)).$((i >> 8 & 255)).$((i & 255))/32 dev lo"
done >"$work/batch"
echo "route add 203.0.113.0/24 dev lo" >>"$work/batch"
ip -n "$h2" -batch "$work/batch"

daemon "$r" zebra -M dplane_fpm_nl -K 10
daemon "$h2" zebra
wait_for "zebra runs" test -S "$work/$r/zserv"
wait_for "the peer's zebra runs" test -S "$work/$h2/zserv"
daemon "$r" bgpd -p 179
daemon "$h2" bgpd -p 179

daemon "$r" staticd

ctl() { "$clique" ctl -u "$work/socket" "$@"; }
has_routes() { [ "$(ctl read routes.length 2>/dev/null || echo 0)" -ge "$1" ]; }
stat_is() { [ "$(ctl read fpm.stats | sed -n "s/^$1 //p")" = "$2" ]; }

start -j2 -u "$work/socket" "$root/conf/frr-router.click" HOLD=15
echo "ok: forwarding between connected networks"
wait_for "$routes routes announced by BGP are installed" has_routes "$routes"
says "none was refused" "^refused 0" ctl read fpm.stats
says "a host behind a BGP route" "1 received" in_h1 ping -c 1 -W 2 203.0.113.1
says "BGP over Clique's own port" "10.0.2.2 .*65002" vty "$r" "show bgp summary"
says "before a blackhole" "1 received" in_h1 ping -c 1 -W 2 203.0.113.1
vtysh --vty_socket "$work/$r" -c "configure terminal" -c "ip route 203.0.113.1/32 blackhole"
wait_for "a blackhole route" eval '[ "$(ctl read routes.lookup 203.0.113.1)" = 3 ]'
says "what is in it" "0 received" in_h1 ping -c 1 -W 1 203.0.113.1
vtysh --vty_socket "$work/$r" -c "configure terminal" -c "no ip route 203.0.113.1/32 blackhole"
wait_for "it is gone" eval '[ "$(ctl read routes.lookup 203.0.113.1)" = "2 10.0.2.2" ]'

# Zebra and BGP die at once, while packets flow; they come back.
in_h1 ping -i 0.01 -c 400 -q 203.0.113.1 >"$work/pings" &
pings=$!
sleep 1
kill -9 "$(cat "$work/$r/zebra.pid")" "$(cat "$work/$r/bgpd.pid")" "$(cat "$work/$r/staticd.pid")"
wait_for "zebra is gone" stat_is connected 0
wait $pings || true
says "not a packet was lost" " 0% packet loss" cat "$work/pings"
has_routes "$routes" || fail "routes went with zebra"
rm -f "$work/$r"/*.pid "$work/$r"/*.vty "$work/$r/zserv"
daemon "$r" zebra -M dplane_fpm_nl -K 10
wait_for "zebra is back" stat_is connected 1
wait_for "its socket" test -S "$work/$r/zserv"
daemon "$r" bgpd -p 179
says "packets are forwarded as before" " 0% packet loss" in_h1 ping -c 50 -i 0.02 -W 2 203.0.113.1
ip -n "$h2" route del 20.0.0.1/32
wait_for "what was withdrawn meanwhile is swept away" eval '[ "$(ctl read routes.lookup 20.0.0.1)" = -1 ]'
has_routes "$((routes - 1))" || fail "more than that was swept away"
stop
