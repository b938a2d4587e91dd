#!/usr/bin/env bash
# The two sites of docs/src/ipsec.md, with the commands and the file that stand there: the left gateway is strongSwan beside Clique, the right one strongSwan
# with Linux' own ESP. A shared secret, over IPv4 and over IPv6, then certificates with ESP in UDP, then the right gateway behind an address translator, which is
# conf/nat.click. No packet is lost while keys are renewed, by command and after some packets, and while the daemon is killed and the configuration replaced.
source "$(dirname "$0")/ike-lib.sh"
command -v openssl >/dev/null || skip "openssl is not installed (apt-get install openssl)"

# Certificates, by a machine that is quicker than a guest.
certificates() {
  local side
  openssl req -x509 -newkey rsa:2048 -nodes -keyout "$work/ca.key" -out "$work/ca.pem" -subj /CN=ca -days 2
  for side in left right; do
    openssl req -newkey rsa:2048 -nodes -keyout "$work/$side.key" -out "$work/$side.request" -subj "/CN=$side"
    openssl x509 -req -in "$work/$side.request" -CA "$work/ca.pem" -CAkey "$work/ca.key" -CAcreateserial -days 2 -out "$work/$side.pem"
  done
}

# The left gateway's file in the book.
site() { sed -n '/^    connections {/,/^    secrets {/s/^    //p' "$root/docs/src/ipsec.md"; }
# Left and right exchanged.
exchanged() {
  local pair script=
  for pair in '192\.0\.2\.1 192.0.2.2' '10\.0\.1\. 10.0.2.' '2001:db8:1: 2001:db8:2:' '2001:db8:f::1 2001:db8:f::2' 'left right'; do
    script+="s/${pair% *}/@/g; s/${pair#* }/$(sed 's/\\//g' <<<"${pair% *}")/g; s/@/${pair#* }/g;"
  done
  sed "$script"
}
# With certificates in the place of the secret, ESP in UDP as behind address translators, and keys that are renewed after some packets.
site_with_certificates() {
  cat <<'END'
connections { site {
  local_addrs = 192.0.2.1
  remote_addrs = 192.0.2.2
  encap = yes
  local { auth = pubkey
    certs = left.pem }
  remote { auth = pubkey
    id = "CN=right" }
  children { net {
    local_ts = 10.0.1.0/24, 2001:db8:1::/64
    remote_ts = 10.0.2.0/24, 2001:db8:2::/64
    esp_proposals = aes256-sha256
    rekey_packets = 30
    rand_packets = 0
    life_packets = 100000
    start_action = trap } } } }
END
}

# Over IPv6, and with the right gateway behind an address translator, where it has another address.
site_over_ipv6() { site | sed 's/_addrs = 192\.0\.2\./_addrs = 2001:db8:f::/'; }
site_behind_translator() { site | exchanged | sed 's/local_addrs = .*/local_addrs = 198.51.100.2/'; }

# Numbers of the associations by which the left gateway receives.
spis() { swan "$r" --list-sas | sed -n 's/^ *in *\([0-9a-f]\{8\}\),.*/\1/p'; }
# There are others than those.
renewed() { spis | grep -qvF "$1"; }
# Both directions of a daemon's associations have packets.
has_counted() { [ "$(swan "$1" --list-sas | grep -Ec '^ +(in|out) .* [1-9][0-9]* packets')" -ge 2 ]; }

# pings WHAT: from site to site, both families, both ways; and both daemons are told of it.
pings() {
  local what=$1 address
  WAIT=60 wait_for "$what: the first packet makes the tunnel" in_h1 ping -q -c 1 -W 2 10.0.2.9 >/dev/null
  for address in 10.0.2.9 2001:db8:2::9; do
    says "$what: to $address" " 0% packet loss" in_h1 ping -c 3 -i 0.1 -W 10 "$address"
  done
  says "$what: to 10.0.1.2" " 0% packet loss" in_h2 ping -c 3 -i 0.1 -W 10 -I 10.0.2.9 10.0.1.2
  says "$what: to 2001:db8:1::2" " 0% packet loss" in_h2 ping -c 3 -i 0.1 -W 10 -I 2001:db8:2::9 2001:db8:1::2
  WAIT=10 wait_for "$what: strongSwan beside Clique is told of packets" has_counted "$r"
  WAIT=10 wait_for "$what: strongSwan on the right is, too" has_counted "$h2"
}
# ends: the tunnel, by the daemon.
ends() {
  swan "$r" --terminate --ike site >/dev/null
  WAIT=10 wait_for "the daemon ends the tunnel" associations_are 0
}
# Keys are renewed, as either side wishes.
renews() {
  local old side
  for side in "$r" "$h2"; do
    old=$(spis)
    swan "$side" --rekey --child net >/dev/null
    wait_for "keys are renewed" renewed "$old"
  done
}
# The right gateway comes to be behind a translator that has its address, and forgets in four seconds what no packet needs.
translate() {
  ip netns add "$n"
  ip netns exec "$n" sysctl -qw net.ipv6.conf.default.disable_ipv6=1 net.ipv6.conf.all.disable_ipv6=1
  ip -n "$h2" link set h2e netns "$n"
  ip -n "$n" link set h2e up
  ip link add inside netns "$n" type veth peer name h2n netns "$h2"
  ip netns exec "$h2" ethtool -K h2n tso off gso off tx on >/dev/null
  ip -n "$n" link set inside up
  ip -n "$h2" link set h2n up
  ip -n "$h2" addr add 198.51.100.2/24 dev h2n
  ip -n "$h2" route add default via 198.51.100.1
  sed 's/1024-65535/20000-60000/; s/MAPPING_CAPACITY \$FLOWS, MAPPING/UDP_TIMEOUT 4, REAP_INTERVAL 1, &/' "$root/conf/nat.click" >"$work/nat.click"
  ip netns exec "$n" "$clique" run -u "$work/nat.socket" "$work/nat.click" IN=inside INSIDE=198.51.100.1/24 OUT=h2e OUTSIDE=192.0.2.2/24 \
    PROVIDER=192.0.2.1 >>"$work/log" 2>&1 &
  wait_for "a translator" in_h2 ping -q -c 1 -W 5 192.0.2.1
}
# Mappings of UDP that the translator has.
mappings() { "$clique" ctl -u "$work/nat.socket" read rw.udp_table; }

# Keys are renewed because so many packets have come: the left side has the limit, and Clique notices.
wears_out() { wait_for "keys are renewed after 30 packets" renewed "$old"; }
# The left daemon is killed, and the configuration takes its own place.
survives() {
  kill -KILL "$daemon"
  ctl write hotconfig "$(ctl read config)" >"$work/swap" 2>&1 || fail "the configuration is refused: $(cat "$work/swap")"
}

inside() {
  source "$root/tests/netns/lib.sh"
  build_sites
  n=n-$$
  "$clique" ctl -u "$work/socket" watch --events ipsec >"$work/events" 2>&1 &
  watcher=$!

  strongswan "$h2" right
  strongswan "$r" left
  site | exchanged | configure "$h2"
  site | configure "$r"
  pings "a secret"
  under_traffic "a secret: renewed" renews
  WAIT=10 wait_for "a secret: the old associations are gone" associations_are 2
  ends

  # The daemon has the outer IPv6 address, too.
  in_r sysctl -qw net.ipv6.conf.ike0.disable_ipv6=0
  in_r ip addr add $(told "ip addr add")
  site_over_ipv6 | exchanged | configure "$h2"
  site_over_ipv6 | configure "$r"
  pings "over IPv6"
  says "ESP is over IPv6" "^2001:db8:f::1 2001:db8:f::2 0x" ctl read ipsec.associations
  under_traffic "over IPv6: renewed" renews
  ends

  site_with_certificates | exchanged | grep -v _packets | configure "$h2"
  site_with_certificates | configure "$r"
  pings "certificates and UDP"
  says "ESP is in UDP" "in-UDP" swan "$r" --list-sas
  old=$(spis)
  under_traffic "certificates and UDP: renewed" wears_out
  says "the daemon is told of limits" "^expiries [1-9]" ctl read kernel.stats
  ends
  kill $watcher
  for event in "wanted 192.0.2.1 192.0.2.2 reqid [0-9]+" "new 192.0.2.2 0x[0-9a-f]{8}" "renewed 2001:db8:f::1 0x[0-9a-f]{8}" \
    "expired soft 192.0.2.[12] 0x[0-9a-f]{8}" "gone 192.0.2.1 0x[0-9a-f]{8}"; do
    says "an event: ${event%% *}" "^ipsec ipsec $event$" cat "$work/events"
  done

  translate
  site_behind_translator | configure "$h2"
  site | configure "$r"
  # Only who is behind the translator can begin.
  swan "$h2" --initiate --child net >"$work/initiated" || fail "no tunnel through a translator: $(cat "$work/initiated")"
  pings "through a translator"
  says "through a translator: ESP is in UDP, from a port of its own" "^192.0.2.2 192.0.2.1 .* udp [2-6][0-9]{4} 4500 " ctl read ipsec.associations
  under_traffic "through a translator: renewed" renews
  says "through a translator: it has a mapping for that" "198.51.100.2, 4500" mappings
  sleep 7
  says "through a translator: keepalives keep it" " 0% packet loss" in_h1 ping -c 3 -i 0.1 -W 10 10.0.2.9
  under_traffic "the daemon is killed, the configuration replaced" survives
  says "nothing was of no use" "^unusable 0" ctl read kernel.stats
  stop
}
certificates >"$work/openssl" 2>&1 || fail "$(cat "$work/openssl")"
guest inside -m 768
echo "strongswan: all good"
