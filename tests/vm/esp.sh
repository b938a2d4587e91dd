#!/usr/bin/env bash
# Tunnels between ESPEncap and ESPDecap and Linux' own ESP (AES-GCM), in both directions, over IPv4 and IPv6, for packets of both; with both lengths
# of keys and of sequence numbers.
source "$(dirname "$0")/lib.sh"

# The tunnel's end in the kernel of h2, behind which are 10.9.0.1 and 2001:db8:9::1.
# peer OURS ITS KEY_THERE KEY_HERE FLAGS...
peer() {
  local ours=$1 its=$2 there=$3 here=$4 nets direction
  shift 4
  ip -n "$h2" xfrm state flush
  ip -n "$h2" xfrm policy flush
  ip -n "$h2" xfrm state add src "$ours" dst "$its" proto esp spi 0x1001 mode tunnel \
    aead 'rfc4106(gcm(aes))' "0x$there" 128 "$@" flag af-unspec
  ip -n "$h2" xfrm state add src "$its" dst "$ours" proto esp spi 0x2002 mode tunnel \
    aead 'rfc4106(gcm(aes))' "0x$here" 128 "$@" flag af-unspec
  for nets in "10.0.1.0/24 10.9.0.0/24" "2001:db8:1::/64 2001:db8:9::/64"; do
    ip -n "$h2" xfrm policy add src "${nets% *}" dst "${nets#* }" dir in tmpl src "$ours" dst "$its" proto esp mode tunnel
    ip -n "$h2" xfrm policy add src "${nets#* }" dst "${nets% *}" dir out tmpl src "$its" dst "$ours" proto esp mode tunnel
  done
}
# Packets that the kernel has handled in an association.
packets() { ip -n "$h2" -s xfrm state list spi "$1" | sed -n 's/.* \([0-9]*\)(packets).*/\1/p' | head -n 1; }
last_is() { [ "$(ctl read "$1.sequence")" = "$(packets "$2")" ]; }

inside() {
  source "$root/tests/netns/lib.sh"
  build
  ip -n "$h2" addr add 10.9.0.1/24 dev lo
  ip -n "$h2" addr add 2001:db8:9::1/64 dev lo nodad
  ip -n "$h2" route add 10.0.1.0/24 via 10.0.2.1 src 10.9.0.1
  ip -n "$h2" route add 2001:db8:1::/64 via 2001:db8:2::1 src 2001:db8:9::1
  keys=(00112233445566778899aabbccddeeff01020304 102132435465768798a9bacbdcedfe0f11121314
    00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff01020304
    f0e1d2c3b4a5968778695a4b3c2d1e0ff0e1d2c3b4a5968778695a4b3c2d1e0f21222324)
  for case in "0 10.0.2.1 10.0.2.2 0 false" "1 2001:db8:2::1 2001:db8:2::2 2 true"; do
    read -r outer ours its key esn <<<"$case"
    local flags=()
    [ $esn = false ] || flags=(flag esn replay-window 128)
    peer "$ours" "$its" "${keys[$key]}" "${keys[$key + 1]}" "${flags[@]}"
    (umask 077; echo "${keys[$key]}" >"$work/there.key"; echo "${keys[$key + 1]}" >"$work/here.key")
    launch -u "$work/socket" "$root/tests/vm/esp.click" OUTER="$outer" ESN=$esn THERE="$work/there.key" HERE="$work/here.key"
    what="over $its, keys of $((${#keys[$key]} * 4 - 32)) bits, ESN $esn"
    says "$what: IPv4" " 0% packet loss" in_h1 ping -c 10 -i 0.1 -W 10 10.9.0.1
    says "$what: IPv6" " 0% packet loss" in_h1 ping -c 10 -i 0.1 -W 10 2001:db8:9::1
    says "$what: fragments" " 0% packet loss" in_h1 ping -c 3 -i 0.2 -s 4000 -W 10 10.9.0.1
    says "$what: from there" " 0% packet loss" in_h2 ping -c 3 -i 0.2 -W 10 -I 10.9.0.1 10.0.1.2
    transfers "$what" 10.9.0.1 200000
    transfers "$what" 2001:db8:9::1 200000
    WAIT=10 wait_for "$what: the kernel has decrypted what Clique has encrypted" last_is encap 0x1001
    WAIT=10 wait_for "$what: Clique has decrypted what the kernel has encrypted" last_is decap 0x2002
    says "$what: no packet was refused" "^$" ctl read decap.drop_reasons
    # Another key: nothing passes, and that is counted.
    peer "$ours" "$its" "${keys[$key]}" "${keys[$key]}" "${flags[@]}"
    says "$what: a wrong key" "100% packet loss" in_h1 ping -c 2 -i 0.2 -W 2 10.9.0.1
    says "$what: which is counted" "[1-9]" ctl read decap.drop_reasons
    stop
  done
}
guest inside
