#!/usr/bin/env bash
# Who is told of a better gateway, by Linux and by Clique in its place: senders on the gateway's network only (RFC 1812, section 5.2.7.2), and
# none where the kernel's send_redirects is off, also if that changes while the router runs.
source "$(dirname "$0")/lib.sh"

build
kernel_has_addresses
ip -n "$h1" addr add 10.0.1.3/24 dev h1e                         # the better gateway
ip -n "$h1" addr add 172.16.9.9/32 dev lo                        # a sender behind h1
ip -n "$r" route add 172.16.5.0/24 via 10.0.1.3
ip -n "$r" route add 172.16.9.0/24 via 10.0.1.2
ip netns exec "$h1" sysctl -qw net.ipv4.ip_forward=0 net.ipv4.conf.all.accept_redirects=0 net.ipv4.conf.h1e.accept_redirects=0

send_redirects() { in_r sysctl -qw net.ipv4.conf.all.send_redirects="$1" net.ipv4.conf.eth0.send_redirects="$1" net.ipv4.conf.eth1.send_redirects="$1"; }
redirects() { # SOURCE: how many redirects answer two packets from there to where the better gateway leads
  { in_h1 ping -c 2 -i 0.3 -W 1 -I "$1" 172.16.5.5 2>&1 || true; } | grep -c "Redirect Host.*10.0.1.3"
}
told() { # WHAT YES|NO SOURCE
  local count
  count=$(redirects "$3" || true)
  [ $((count > 0)) = "$2" ] || fail "$1: $count redirects to $3"
  echo "ok: $1"
}
all() { # WHO
  send_redirects 1
  sleep 1.2 # a setting is believed for a second
  told "$1: a sender on the link" 1 10.0.1.2
  told "$1: a sender that is not" 0 172.16.9.9
  send_redirects 0
  sleep 1.2
  told "$1: redirects are off" 0 10.0.1.2
  send_redirects 1
  sleep 1.2
  told "$1: and on again" 1 10.0.1.2
}

in_r sysctl -qw net.ipv4.ip_forward=1 net.ipv4.conf.all.rp_filter=0 net.ipv4.conf.eth0.rp_filter=0
send_redirects 1
told "Linux: a sender on the link" 1 10.0.1.2
told "Linux: a sender that is not" 0 172.16.9.9

ctl() { "$clique" ctl -u "$work/socket" "$@"; }
send_redirects 0
launch --from-host -u "$work/socket"
wait_for "--from-host has the kernel's routes" way_is 172.16.5.5 "1 10.0.1.3"
all "--from-host"
stop

in_r sysctl -qw net.ipv4.ip_forward=0
kernel_router
launch -u "$work/socket" "$work/router.click"
wait_for "frr-router.click has the kernel's routes" way_is 172.16.5.5 "1 10.0.1.3"
all frr-router.click
stop
