#!/usr/bin/env bash
# Routes from BIRD: a peer announces ROUTES of them over BGP through Clique's port, this router's BIRD writes them to the
# kernel, KernelRoutes takes them from there. BIRD dies and comes back. About 20 s.
source "$(dirname "$0")/lib.sh" bird birdc

routes=${ROUTES:-100000}
routes6=$((routes / 10))

# bird_in NAMESPACE [ARGUMENTS...]: one with files of its own.
bird_in() {
  ip netns exec "$1" bird -p -c "$work/$1.conf" >>"$work/log" 2>&1 || fail "$1.conf"
  ip netns exec "$1" bird -f -c "$work/$1.conf" -s "$work/$1.ctl" -P "$work/$1.pid" "${@:2}" >>"$work/log" 2>&1 &
  birds+=($!)
}
birds=()
finish_birds() {
  for pid in "${birds[@]}"; do kill -9 "$pid" 2>/dev/null || true; done
  finish
}
trap finish_birds EXIT

build
kernel_has_addresses
kernel_router
ip -n "$h2" addr add 203.0.113.1/32 dev lo
ip -n "$h2" addr add 2001:db8:ffff::1/128 dev lo

# Destinations all over the address space, the same each time.
awk -v n="$routes" 'BEGIN { for (i = 0; i < n; i++) printf "route %d.%d.%d.0/24 blackhole;\n", 20 + i / 65536, i / 256 % 256, i % 256 }' \
  >"$work/routes4"
awk -v n="$routes6" 'BEGIN { for (i = 0; i < n; i++) printf "route 2a00:%x::/32 blackhole;\n", i }' >"$work/routes6"

# What both have: families, and where BGP's routes come from and go to.
bgp() { # LOCAL LOCAL_AS NEIGHBOUR NEIGHBOUR_AS NAME IMPORT EXPORT CHANNEL
  echo "protocol bgp $5 { local $1 as $2; neighbor $3 as $4; connect delay time 1; connect retry time 1; error wait time 1,2;
    graceful restart on; $8 { import $6; export $7; next hop self; }; }"
}
{
  echo "router id 10.0.2.2; protocol device {}"
  printf 'protocol static s4 { ipv4; route 203.0.113.0/24 blackhole;\ninclude "%s";\n}\n' "$work/routes4"
  printf 'protocol static s6 { ipv6; route 2001:db8:ffff::/48 blackhole;\ninclude "%s";\n}\n' "$work/routes6"
  bgp 10.0.2.2 65002 10.0.2.1 65001 four none all ipv4
  bgp 2001:db8:2::2 65002 2001:db8:2::1 65001 six none all ipv6
} >"$work/$h2.conf"
{
  echo "router id 10.0.1.1; protocol device {}"
  echo "protocol kernel k4 { graceful restart on; ipv4 { import none; export where source = RTS_BGP; }; }"
  echo "protocol kernel k6 { graceful restart on; ipv6 { import none; export where source = RTS_BGP; }; }"
  bgp 10.0.2.1 65001 10.0.2.2 65002 four all none ipv4
  bgp 2001:db8:2::1 65001 2001:db8:2::2 65002 six all none ipv6
} >"$work/$r.conf"

start -j2 -u "$work/socket" "$work/router.click"
echo "ok: forwarding between connected networks"
before=$SECONDS
bird_in "$r"
bird_in "$h2"
WAIT=240 wait_for "$routes IPv4 routes announced by BGP are installed" at_least routes.length "$routes"
WAIT=240 wait_for "$routes6 IPv6 routes" at_least routes6.length "$routes6"
echo "   ($((SECONDS - before)) s)"
says "BGP over Clique's own port" "four .*Established" birdc -s "$work/$r.ctl" show protocols
wait_for "the way to one of them" way_is 203.0.113.1 "2 10.0.2.2"
says "a host behind a BGP route" "1 received" in_h1 ping -c 1 -W 2 203.0.113.1
says "IPv6: a host behind a BGP route" "1 received" in_h1 ping -6 -c 1 -W 2 2001:db8:ffff::1
wait_for "none was refused" stat_is kernel refused 0

# BIRD dies at once while packets flow, and comes back; meanwhile the peer withdraws a route.
restart() {
  kill -9 "${birds[0]}"
  wait "${birds[0]}" 2>/dev/null || true
  at_least routes.length "$routes" || fail "routes went with BIRD"
  sed -i 1d "$work/routes4"
  birdc -s "$work/$h2.ctl" configure >/dev/null
  # -R: what an earlier BIRD left in the kernel stays until the peers have told everything again.
  bird_in "$r" -R
  WAIT=60 wait_for "what was withdrawn while BIRD was away is gone" way_is 20.0.0.1 -1
}
lossless "BIRD is killed and comes back" 203.0.113.1 restart
WAIT=60 wait_for "the others are there" at_least routes.length $((routes - 1))
stop
