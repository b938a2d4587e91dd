#!/usr/bin/env bash
# Other daemons in the places of strongSwan's in strongswan.sh: libreswan beside Clique on the left, as Debian ships it; strongSwan on the right, first with Linux' own
# ESP, then with its own (kernel-libipsec). The first packet makes the tunnel, and either side renews keys. No packet is lost while libreswan does; when the other side does,
# libreswan uses the new keys before strongSwan has installed them, and Linux drops what comes too soon (XfrmAcquireError).
source "$(dirname "$0")/ike-lib.sh"

# libreswan's package excludes strongSwan's, and the other one brings plugins that change what strongSwan does: both are unpacked and not installed.
unpacked=${VM_CACHE:-$root/target/vm}/ike
fetch() {
  local names
  rm -rf "$unpacked.new"
  mkdir -p "$unpacked.new/packages"
  names=$(apt-get install -s --no-install-recommends libreswan 2>/dev/null | awk '/^Inst/ { print $2 }')
  grep -qx libreswan <<<"$names" || skip "apt-get knows no libreswan (apt-get update)"
  (cd "$unpacked.new/packages" && apt-get download -q -o APT::Sandbox::User=root $names libcharon-extra-plugins >/dev/null) ||
    skip "libreswan cannot be downloaded"
  for package in "$unpacked.new"/packages/*.deb; do dpkg -x "$package" "$unpacked.new"; done
  rm -r "$unpacked.new/packages"
  mv "$unpacked.new" "$unpacked"
}

# libreswan on the left, with a connection for each family of the sites.
libreswan() {
  cp -r "$unpacked"/{usr,var} /
  cp -r "$unpacked"/etc/ipsec.* /etc/
  cat >/etc/ipsec.d/site.conf <<'END'
conn gateways
  left=192.0.2.1
  right=192.0.2.2
  authby=secret
  esp=aes_gcm128,aes128-sha2_256
  pfs=no
conn site
  also=gateways
  leftsubnet=10.0.1.0/24
  rightsubnet=10.0.2.0/24
  auto=ondemand
conn site6
  also=gateways
  leftsubnet=2001:db8:1::/64
  rightsubnet=2001:db8:2::/64
  auto=ondemand
END
  (umask 077; echo '192.0.2.1 192.0.2.2 : PSK "a long secret that both gateways have"' >/etc/ipsec.d/site.secrets)
  in_r ipsec initnss >/dev/null
  in_r /usr/libexec/ipsec/pluto --config /etc/ipsec.conf --nofork --stderrlog >/dev/null 2>>"$work/log" &
  WAIT=60 wait_for "libreswan runs" is_loaded >/dev/null
}
is_loaded() { in_r ipsec whack --status 2>/dev/null | grep -q '"site6".*routed'; }
# The right gateway's, for strongSwan.
site() {
  cat <<'END'
connections { site {
  local_addrs = 192.0.2.2
  remote_addrs = 192.0.2.1
  local { auth = psk
    id = 192.0.2.2 }
  remote { auth = psk
    id = 192.0.2.1 }
  children {
    net { local_ts = 10.0.2.0/24
      remote_ts = 10.0.1.0/24
      esp_proposals = aes128gcm16 }
    net6 { local_ts = 2001:db8:2::/64
      remote_ts = 2001:db8:1::/64
      esp_proposals = aes128gcm16 } } } }
secrets { ike { secret = "a long secret that both gateways have" } }
END
}
spis() { ctl read ipsec.associations | awk '$2 == "192.0.2.1" { print $3 }'; }
# There is one that was not there.
renewed() { spis | grep -qvF "$1"; }
renews() {
  local old
  old=$(spis)
  "${@:2}" >/dev/null
  wait_for "$1 renews keys" renewed "$old"
}
by_libreswan() { renews libreswan in_r ipsec whack --rekey-ipsec --name site; }
by_strongswan() { renews strongSwan swan "$h2" --rekey --child net; }
pings() {
  local what=$1 address
  for address in 10.0.2.9 2001:db8:2::9; do
    WAIT=60 wait_for "$what: the first packet makes the tunnel to $address" in_h1 ping -q -c 1 -W 2 "$address" >/dev/null
    says "$what: to $address" " 0% packet loss" in_h1 ping -c 3 -i 0.1 -W 10 "$address"
  done
  says "$what: to 10.0.1.2" " 0% packet loss" in_h2 ping -c 3 -i 0.1 -W 10 -I 10.0.2.9 10.0.1.2
}
# Of two pairs that both sides have made at once, whack --terminate ends the later one only.
end_all() {
  local state
  for state in $(in_r ipsec whack --showstates | sed -n 's/.*#\([0-9]*\): "site.*/\1/p' | sort -u); do
    in_r ipsec whack --deletestate "$state" >/dev/null || true
  done
}
# libreswan counts what has passed.
has_counted() { in_r ipsec whack --trafficstatus | grep -Eq '"site".*inBytes=[1-9].*outBytes=[1-9]'; }

inside() {
  source "$root/tests/netns/lib.sh"
  build_sites
  strongswan "$h2" right
  site | configure "$h2"
  libreswan
  pings "libreswan"
  WAIT=10 wait_for "libreswan is told of packets" has_counted
  under_traffic "libreswan: keys are renewed" by_libreswan
  by_strongswan
  says "libreswan: with keys renewed by strongSwan" " 0% packet loss" in_h1 ping -c 3 -i 0.1 -W 10 10.0.2.9
  end_all
  WAIT=20 wait_for "libreswan ends the tunnel" associations_are 0

  # strongSwan decrypts and encrypts itself, in UDP. The plugin for AES-GCM is in another package.
  kill "$daemon"
  wait "$daemon" || true
  strongswan "$h2" right 'kernel-libipsec { load = yes }'
  site | sed 's/aes128gcm16/aes128-sha256/' | configure "$h2"
  in_r ipsec whack --name site --route >/dev/null || true
  in_r ipsec whack --name site6 --route >/dev/null || true
  pings "kernel-libipsec"
  says "kernel-libipsec: ESP is in UDP" "^192.0.2.2 192.0.2.1 .* aes-cbc-sha256 .* udp " ctl read ipsec.associations
  says "kernel-libipsec: the kernel has no associations" "^$" ip -n "$h2" xfrm state
  by_strongswan
  under_traffic "kernel-libipsec: keys are renewed" by_libreswan
  says "nothing was of no use" "^unusable 0" ctl read kernel.stats
  stop
}
[ -d "$unpacked" ] || fetch
export unpacked
guest inside -m 1024
echo "libreswan: all good"
