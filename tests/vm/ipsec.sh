#!/usr/bin/env bash
# conf/ipsec-gateway.click between h1 and h2, whose kernel has Linux' own ESP: associations by `ip xfrm` on both sides, which Clique mirrors, over IPv4 and
# IPv6; and the kernel is told of their use.
source "$(dirname "$0")/lib.sh"

# xfrm_between NAMESPACE OURS ITS: what one side's kernel knows of a tunnel between the two, seen from the gateway that is OURS.
xfrm_between() {
  local namespace=$1 ours=$2 its=$3 pair inward outward
  local aead="proto esp mode tunnel reqid 7 flag af-unspec replay-window 32 aead rfc4106(gcm(aes))"
  ip -n "$namespace" xfrm state flush
  ip -n "$namespace" xfrm policy flush
  ip -n "$namespace" xfrm state add src "$ours" dst "$its" spi 0x1001 $aead $there 128
  ip -n "$namespace" xfrm state add src "$its" dst "$ours" spi 0x2002 $aead $here 128
  [ "$namespace" = "$r" ] && outward=out inward="in fwd" || outward="in fwd" inward=out
  for pair in "${nets[@]}"; do
    for direction in $outward; do
      ip -n "$namespace" xfrm policy add src "${pair% *}" dst "${pair#* }" dir $direction tmpl src "$ours" dst "$its" proto esp reqid 7 mode tunnel
    done
    for direction in $inward; do
      ip -n "$namespace" xfrm policy add src "${pair#* }" dst "${pair% *}" dir $direction tmpl src "$its" dst "$ours" proto esp reqid 7 mode tunnel
    done
  done
}
# Packets of an association, as the kernel of a namespace knows it, and as Clique does.
packets() { ip -n "$1" -s xfrm state list spi "$2" | sed -n 's/.* \([0-9]*\)(packets).*/\1/p' | head -n 1; }
packets_here() { ctl read ipsec.associations | sed -n "s/.* 0x0000${1#0x} .* packets \([0-9]*\) .*/\1/p"; }
kernel_is_told() { [ "$(packets "$r" "$1")" = "$(packets_here "$1")" ] && [ "$(packets_here "$1")" -gt 0 ]; }
associations_are() { [ "$(ctl read ipsec.association_count)" = "$1" ]; }

inside() {
  source "$root/tests/netns/lib.sh"
  modprobe -d "${VM_CACHE:-$root/target/vm}/kernel" tun
  build
  nets=("10.0.1.0/24 10.9.0.0/24" "2001:db8:1::/64 2001:db8:9::/64")
  there=0x00112233445566778899aabbccddeeff01020304 here=0x102132435465768798a9bacbdcedfe0f11121314
  in_r sysctl -qw net.ipv4.conf.eth1.rp_filter=1
  ip -n "$h2" addr add 10.9.0.1/24 dev lo
  ip -n "$h2" addr add 2001:db8:9::1/64 dev lo nodad
  ip -n "$h2" route add 10.0.1.0/24 via 10.0.2.1 src 10.9.0.1
  ip -n "$h2" route add 2001:db8:1::/64 via 2001:db8:2::1 src 2001:db8:9::1
  gateway=(-u "$work/socket" "$root/conf/ipsec-gateway.click" OUTSIDE=10.0.2.1/24 OUTSIDE6=2001:db8:2::1/64 ROUTER=10.0.2.2 ROUTER6=2001:db8:2::2)

  # What is there when the router starts, and what comes while it runs.
  xfrm_between "$r" 10.0.2.1 10.0.2.2
  xfrm_between "$h2" 10.0.2.1 10.0.2.2
  launch "${gateway[@]}"
  for ends in "10.0.2.1 10.0.2.2" "2001:db8:2::1 2001:db8:2::2"; do
    xfrm_between "$h2" $ends
    xfrm_between "$r" $ends
    WAIT=10 wait_for "over ${ends% *}: two associations" associations_are 2
    says "over ${ends% *}: IPv4" " 0% packet loss" in_h1 ping -c 10 -i 0.1 -W 10 10.9.0.1
    says "over ${ends% *}: IPv6" " 0% packet loss" in_h1 ping -c 10 -i 0.1 -W 10 2001:db8:9::1
    says "over ${ends% *}: fragments" " 0% packet loss" in_h1 ping -c 2 -i 0.2 -s 4000 -W 10 10.9.0.1
    for spi in 0x1001 0x2002; do
      WAIT=10 wait_for "over ${ends% *}: the kernel is told of $spi" kernel_is_told $spi
    done
  done
  says "no key is shown" "^ok$" bash -c "'$clique' ctl -u '$work/socket' read ipsec.associations | grep -qi 99aabbcc || echo ok"
  transfers "a tunnel of Linux'" 10.9.0.1 200000
  says "senders learn what fits" "mtu ?= ?1[34][0-9][0-9]" in_h1 ping -c 2 -M do -s 1470 -W 5 10.9.0.1
  stop
}
guest inside -m 768
echo "ipsec: all good"
