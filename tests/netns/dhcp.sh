#!/usr/bin/env bash
# clique run --from-host where an address comes from DHCP: a lease that is renewed changes nothing, another address is followed. About 50 s.
source "$(dirname "$0")/lib.sh" udhcpc udhcpd

build
in_r sysctl -qw net.ipv4.ip_forward=1
ip -n "$r" addr add 10.0.1.1/24 dev eth0

# serve ADDRESS: a server on the second host that has just this one, for twenty seconds at a time (the client does not believe in less than 16).
serve() {
  [ -z "${server:-}" ] || { kill "$server"; wait "$server" 2>/dev/null || true; }
  rm -f "$work/leases"
  touch "$work/leases"
  printf '%s\n' "start $1" "end $1" "interface h2e" "lease_file $work/leases" "min_lease 5" \
    "option subnet 255.255.255.0" "option lease 20" >"$work/udhcpd.conf"
  ip netns exec "$h2" udhcpd -f "$work/udhcpd.conf" >>"$work/dhcp" 2>&1 &
  server=$!
}

# What the client does with what it hears; the distribution's script would change the machine's resolver.
cat >"$work/client" <<'SCRIPT'
#!/bin/sh
echo "$1 $ip"
case $1 in
  deconfig) ip addr flush dev "$interface" scope global ;;
  bound | renew) ip addr replace "$ip/$mask" valid_lft "$lease" preferred_lft "$lease" dev "$interface" ;;
esac
SCRIPT
chmod +x "$work/client"

serve 10.0.2.1
ip netns exec "$r" udhcpc -f -i eth1 -t 20 -T 1 -A 1 -s "$work/client" >"$work/leased" 2>&1 &
has() { ip -n "$r" -4 addr show dev eth1 | grep -q "inet $1/24"; }
wait_for "the address is leased" has 10.0.2.1

start --from-host -u "$work/socket"
wait_for "Clique has taken over" is routes.lookup 0 10.0.2.1
holds "$router" "$work/socket" # before, it was the kernel that forwarded
renewals() { grep -c "^renew 10.0.2.1" "$work/leased" || true; }
renewed() { [ "$(renewals)" -ge "$1" ]; }
renewal() { wait_for "the lease is renewed" renewed $(($(renewals) + 1)); }
lossless "a lease is renewed" 10.0.2.2 renewal
! grep -q "addresses have changed" "$work/log" || fail "a renewal changes something"

# The server has another address now: it refuses to renew, and the client asks anew.
serve 10.0.2.5
wait_for "another address is leased" has 10.0.2.5
wait_for "Clique goes on with it" is p2/arp.ipaddr 10.0.2.5
says "and says so" "addresses have changed" cat "$work/log"
wait_for "the old one is no interface's" way_is 10.0.2.1 2
ip -n "$h2" route replace default via 10.0.2.5
says "forwarding" " 0% packet loss" in_h1 ping -c 3 -i 0.2 -W 2 10.0.2.2
says "errors come from the new address" "From 10.0.2.5.*Time to live" in_h2 ping -c 1 -t 1 -W 2 10.0.1.2
# The client's lease goes on, with Clique in between.
wait_for "the new lease is renewed" grep -q "^renew 10.0.2.5" "$work/leased"
stop
