#!/usr/bin/env bash
# The two sites of docs/src/ipsec.md, with the commands and the file that stand there: the left gateway is strongSwan beside Clique, the right one strongSwan
# with Linux' own ESP. A shared secret, then certificates with ESP in UDP. No packet is lost while keys are renewed, by command and after some packets.
source "$(dirname "$0")/lib.sh"
for program in charon-systemd swanctl openssl; do
  PATH=$PATH:/usr/sbin command -v "$program" >/dev/null || skip "$program is not installed (apt-get install charon-systemd strongswan-swanctl openssl)"
done

# Certificates, by a machine that is quicker than a guest.
certificates() {
  local side
  openssl req -x509 -newkey rsa:2048 -nodes -keyout "$work/ca.key" -out "$work/ca.pem" -subj /CN=ca -days 2
  for side in left right; do
    openssl req -newkey rsa:2048 -nodes -keyout "$work/$side.key" -out "$work/$side.request" -subj "/CN=$side"
    openssl x509 -req -in "$work/$side.request" -CA "$work/ca.pem" -CAkey "$work/ca.key" -CAcreateserial -days 2 -out "$work/$side.pem"
  done
}

# What the book says: a command's arguments, and the left gateway's file.
told() { sed -n "s/^    $1 \(.*\)/\1/p" "$root/docs/src/ipsec.md" | sed 's/ *#.*//'; }
arguments() { sed -n '/^    clique run .*ipsec-gateway/,/&$/p' "$root/docs/src/ipsec.md" | grep -o '[A-Z0-9]*=[^ ]*'; }
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

# strongswan NAMESPACE SIDE: the daemon there, with an /etc/swanctl of its own.
strongswan() {
  local etc=/etc/netns/$1
  mkdir -p "$etc"
  cp -r /etc/swanctl /etc/strongswan.conf "$etc/"
  cp "$shared/ca.pem" "$etc/swanctl/x509ca/"
  cp "$shared/$2.pem" "$etc/swanctl/x509/"
  cp "$shared/$2.key" "$etc/swanctl/private/"
  cat >>"$etc/strongswan.conf" <<END
charon-systemd {
  filelog { stderr { default = 1 } }
  plugins { vici { socket = unix:///run/$1.vici } }
}
END
  ip netns exec "$1" charon-systemd >/dev/null 2>>"$work/log" &
  WAIT=60 wait_for "strongSwan on the $2 runs" swan "$1" --stats >/dev/null
}
swan() { ip netns exec "$1" swanctl "${@:2}" --uri "unix:///run/$1.vici" 2>&1; }
# configure NAMESPACE: what strongSwan is to do there, from the standard input.
configure() {
  cat >"/etc/netns/$1/swanctl/conf.d/site.conf"
  swan "$1" --load-all >"$work/loaded" || fail "strongSwan's configuration: $(cat "$work/loaded")"
}
associations_are() { is ipsec.association_count "$1"; }
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
# under_traffic WHAT COMMAND...: of ten pings a second none is lost while the command runs; those that are on their way at the end do not count.
under_traffic() {
  local what=$1 pings
  shift
  ip netns exec "$h1" ping -i 0.1 10.0.2.9 >"$work/pings" &
  pings=$!
  sleep 0.5
  "$@"
  sleep 1
  kill -INT $pings
  wait $pings || true
  sed -n 's/.*icmp_seq=\([0-9]*\).*/\1/p' "$work/pings" | sort -nu >"$work/came"
  [ -s "$work/came" ] && [ "$(wc -l <"$work/came")" = "$(tail -n 1 "$work/came")" ] ||
    fail "$what: $(tail -n 3 "$work/pings"; ctl read ipsec.drop_reasons; in_h2 grep -v '[[:blank:]]0$' /proc/net/xfrm_stat)"
  echo "ok: $what: $(wc -l <"$work/came") pings, none lost"
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
# Keys are renewed because so many packets have come: the left side has the limit, and Clique notices.
wears_out() { wait_for "keys are renewed after 30 packets" renewed "$old"; }

inside() {
  source "$root/tests/netns/lib.sh"
  modprobe -d "${VM_CACHE:-$root/target/vm}/kernel" tun
  build
  # h1 is in the left site; h2 is the right gateway, with an address in its site.
  ip -n "$h2" addr flush dev h2e
  ip -n "$h2" addr add 192.0.2.2/24 dev h2e
  ip -n "$h2" addr add 2001:db8:f::2/64 dev h2e nodad
  ip -n "$h2" addr add 10.0.2.9/24 dev lo
  ip -n "$h2" addr add 2001:db8:2::9/64 dev lo nodad
  in_r sysctl -q $(told sysctl)
  launch -u "$work/socket" "$root/conf/ipsec-gateway.click" $(arguments)

  strongswan "$h2" right
  strongswan "$r" left
  site | exchanged | configure "$h2"
  site | configure "$r"
  pings "a secret"
  under_traffic "a secret: renewed" renews
  WAIT=10 wait_for "a secret: the old associations are gone" associations_are 2
  ends

  site_with_certificates | exchanged | grep -v _packets | configure "$h2"
  site_with_certificates | configure "$r"
  pings "certificates and UDP"
  says "ESP is in UDP" "in-UDP" swan "$r" --list-sas
  old=$(spis)
  under_traffic "certificates and UDP: renewed" wears_out
  says "the daemon is told of limits" "^expiries [1-9]" ctl read kernel.stats
  says "nothing was of no use" "^unusable 0" ctl read kernel.stats
  stop
}
certificates >"$work/openssl" 2>&1 || fail "$(cat "$work/openssl")"
guest inside -m 768
echo "strongswan: all good"
