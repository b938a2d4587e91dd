# Two sites whose gateways have IKE daemons, for the tests beside it that source it: the left gateway is conf/ipsec-gateway.click in the namespace $r, the right
# one is $h2, with addresses in its site. h1 is a host of the left site.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
for program in charon-systemd swanctl; do
  PATH=$PATH:/usr/sbin command -v "$program" >/dev/null || skip "$program is not installed (apt-get install charon-systemd strongswan-swanctl)"
done

# What docs/src/ipsec.md says: a command's arguments.
told() { sed -n "s/^ \{4,\}$1 \(.*\)/\1/p" "$root/docs/src/ipsec.md" | sed 's/ *#.*//'; }
arguments() { sed -n '/^    clique run .*ipsec-gateway/,/&$/p' "$root/docs/src/ipsec.md" | grep -o '[A-Z0-9]*=[^ ]*'; }

# The sites, and Clique.
build_sites() {
  modprobe -d "${VM_CACHE:-$root/target/vm}/kernel" tun
  build
  ip -n "$h2" addr flush dev h2e
  ip -n "$h2" addr add 192.0.2.2/24 dev h2e
  ip -n "$h2" addr add 2001:db8:f::2/64 dev h2e nodad
  ip -n "$h2" addr add 10.0.2.9/24 dev lo
  ip -n "$h2" addr add 2001:db8:2::9/64 dev lo nodad
  in_r sysctl -q $(told sysctl)
  launch -R -u "$work/socket" "$root/conf/ipsec-gateway.click" $(arguments)
}

# strongswan NAMESPACE SIDE [PLUGINS]: the daemon there, with an /etc/swanctl of its own; $daemon is its process. What the plugins are told is as in strongswan.conf.
strongswan() {
  local etc=/etc/netns/$1
  mkdir -p "$etc"
  cp -r /etc/swanctl /etc/strongswan.conf "$etc/"
  if [ -e "$shared/ca.pem" ]; then
    cp "$shared/ca.pem" "$etc/swanctl/x509ca/"
    cp "$shared/$2.pem" "$etc/swanctl/x509/"
    cp "$shared/$2.key" "$etc/swanctl/private/"
  fi
  cat >>"$etc/strongswan.conf" <<END
charon-systemd {
  filelog { stderr { default = 1 } }
  keep_alive = 1
  plugins { vici { socket = unix:///run/$1.vici }
    ${3:-} }
}
END
  ip netns exec "$1" charon-systemd >/dev/null 2>>"$work/log" &
  daemon=$!
  WAIT=60 wait_for "strongSwan on the $2 runs" swan "$1" --stats >/dev/null
}
swan() { ip netns exec "$1" swanctl "${@:2}" --uri "unix:///run/$1.vici" 2>&1; }
# configure NAMESPACE: what strongSwan is to do there, from the standard input.
configure() {
  cat >"/etc/netns/$1/swanctl/conf.d/site.conf"
  swan "$1" --load-all >"$work/loaded" || fail "strongSwan's configuration: $(cat "$work/loaded")"
}
associations_are() { is ipsec.association_count "$1"; }

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
