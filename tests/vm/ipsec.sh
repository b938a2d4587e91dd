#!/usr/bin/env bash
# conf/ipsec-gateway.click between h1 and h2, whose kernel has Linux' own ESP: associations by `ip xfrm` on both sides, which Clique mirrors, over IPv4 and
# IPv6; the kernel is told of their use. Routers outside are heeded that say that ESP is too long, and keepalives of address translators pass and end.
source "$(dirname "$0")/lib.sh"

# xfrm_between NAMESPACE OURS ITS: what one side's kernel knows of a tunnel between the two, seen from the gateway that is OURS.
xfrm_between() {
  local namespace=$1 ours=$2 its=$3 pair inward outward
  local aead="proto esp mode tunnel reqid 7 ${algorithm:-flag af-unspec replay-window 32 aead rfc4106(gcm(aes))}"
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
# UDP datagrams that a namespace's kernel has received and no program waits for.
unwanted() { ip netns exec "$1" awk '/^Udp: [0-9]/ { print $3 }' /proc/net/snmp; }
unwanted_are() { [ "$(unwanted "$1")" = "$2" ]; }
# too_big FROM TO MTU: h2 says what a router would that cannot pass on the last packet of association 0x1001 from FROM to TO.
too_big() {
  local sent
  sent=$(ctl read ipsec.associations | sed -n 's/.* 0x00001001 .* sent \([0-9]*\) .*/\1/p')
  in_h2 /usr/bin/python3 - "$@" "$sent" <<'END'
import socket, struct, sys
source, destination, mtu, number = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
esp = struct.pack("!II", 0x1001, number & 0xffffffff)
if ":" in source:
    ends = [socket.inet_pton(socket.AF_INET6, end) for end in (source, destination)]
    message = struct.pack("!BBHI", 2, 0, 0, mtu) + struct.pack("!IHBB", 6 << 28, 1400, 50, 64) + ends[0] + ends[1] + esp
    socket.socket(socket.AF_INET6, socket.SOCK_RAW, socket.IPPROTO_ICMPV6).sendto(message, (source, 0))
else:
    ends = [socket.inet_pton(socket.AF_INET, end) for end in (source, destination)]
    head = struct.pack("!BBHHHBBH", 0x45, 0, 1440, 0, 0x4000, 64, 50, 0) + ends[0] + ends[1] + esp
    message = lambda checksum: struct.pack("!BBHHH", 3, 4, checksum, 0, mtu) + head
    total = sum(struct.unpack("!%dH" % (len(message(0)) // 2), message(0)))
    while total > 0xffff:
        total = (total & 0xffff) + (total >> 16)
    socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP).sendto(message(total ^ 0xffff), (source, 0))
END
}
has_heeded() { ctl read ipsec.associations | grep -q "0x00001001 .* mtu $1"; }

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
    too_big $ends 1380
    WAIT=10 wait_for "over ${ends% *}: a router outside is heeded" has_heeded 1380
    says "over ${ends% *}: senders learn what passes it" "mtu ?= ?13[0-9][0-9]" in_h1 ping -c 2 -M "do" -s 1372 -W 5 10.9.0.1
    says "over ${ends% *}: IPv6 senders, too" "mtu: 1[23][0-9][0-9]" in_h1 ping -6 -c 2 -M "do" -s 1352 -W 5 2001:db8:9::1
  done

  # What the daemon behind a translator sends passes, and what comes from one ends at IPsec: it reaches no program and is no drop.
  before=$(unwanted "$h2")
  in_r bash -c "printf '\\xff' >/dev/udp/10.0.2.2/4500"
  WAIT=10 wait_for "a keepalive passes to the outside" unwanted_are "$h2" $((before + 1))
  before=$(unwanted "$r") drops=$(ctl read ipsec.drop_reasons)
  in_h2 bash -c "printf '\\xff' >/dev/udp/10.0.2.1/4500; printf '\\0\\0\\0\\0ike' >/dev/udp/10.0.2.1/4500"
  WAIT=10 wait_for "IKE reaches the daemon's machine" unwanted_are "$r" $((before + 1))
  [ "$(ctl read ipsec.drop_reasons | grep -v "no policy")" = "$(grep -v "no policy" <<<"$drops")" ] || fail "a keepalive is a drop: $(ctl read ipsec.drop_reasons)"
  # Numbers of 64 bits whose high half is not 0, and nothing is encrypted.
  algorithm="flag af-unspec flag esn replay-window 32 replay-seq-hi 5 replay-oseq-hi 5 aead rfc4543(gcm(aes))"
  xfrm_between "$h2" $ends
  xfrm_between "$r" $ends
  WAIT=10 wait_for "AES-GMAC, extended numbers: two associations" associations_are 2
  says "AES-GMAC, extended numbers" "aes-gmac .* esn" ctl read ipsec.associations
  says "AES-GMAC, extended numbers: IPv4" " 0% packet loss" in_h1 ping -c 5 -i 0.1 -W 10 10.9.0.1
  says "AES-GMAC, extended numbers: IPv6" " 0% packet loss" in_h1 ping -c 5 -i 0.1 -W 10 2001:db8:9::1
  says "AES-GMAC, extended numbers: the high half" "received 214748364[89][0-9]" ctl read ipsec.associations
  says "no key is shown" "^ok$" bash -c "'$clique' ctl -u '$work/socket' read ipsec.associations | grep -qi 99aabbcc || echo ok"
  transfers "a tunnel of Linux'" 10.9.0.1 200000
  says "senders learn what fits" "mtu ?= ?1[34][0-9][0-9]" in_h1 ping -c 2 -M do -s 1470 -W 5 10.9.0.1
  stop
}
guest inside -m 768
echo "ipsec: all good"
