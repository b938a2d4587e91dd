#!/usr/bin/env bash
# What Clique writes is what tshark reads: every protocol whose packets Clique makes itself, without a mark that says malformed or wrong.
# About 15 s.
source "$(dirname "$0")/lib.sh" tshark tcpdump

# capture FILE INTERFACE: what the router sends, until caught.
capture() {
  in_h1 tcpdump -Q in -U -w "$1" -i h1e 2>/dev/null &
  capture=$!
  sleep 0.5
}
caught() {
  sleep 0.3
  kill "$capture"
  wait "$capture" || true
}

# read FILE FILTER FIELDS...: tshark's reading, checksums checked.
checks=(-o ip.check_checksum:TRUE -o udp.check_checksum:TRUE -o tcp.check_checksum:TRUE)
read_back() {
  local file=$1 filter=$2 fields=() field
  for field in "${@:3}"; do fields+=(-e "$field"); done
  tshark -r "$file" "${checks[@]}" -Y "$filter" -T fields "${fields[@]}" 2>/dev/null
}
# sound WHAT FILE: tshark finds no fault with any packet. What a message quotes is cut off, which is no fault.
sound() {
  local faults packets
  faults=$(tshark -r "$2" "${checks[@]}" -Y '_ws.malformed || ip.checksum.status == 0 || icmp.checksum.status == 0 ||
    icmpv6.checksum.status == 0 || _ws.expert.severity >= 8388608' -T fields -e frame.number -e frame.protocols -e _ws.expert.message 2>&1 |
    grep -v '^Running as' || true)
  [ -z "$faults" ] || fail "$1: $faults"
  packets=$(tcpdump -r "$2" 2>/dev/null | wc -l)
  [ "$packets" -gt 0 ] || fail "$1: there are no packets"
  echo "ok: $1: $packets packets without a fault"
}

# Messages of a router: ARP, neighbour discovery, errors and answers.
build
start -u "$work/socket" "$root/conf/linux-router.click" MTU=1300
ip -n "$h1" neigh flush dev h1e
ctl write p0/arp.clear "" >/dev/null || true
capture "$work/router.pcap"
in_h1 ping -q -c 1 -W 1 10.0.1.1 >/dev/null || true
in_h1 ping -q -c 1 -W 1 10.0.2.2 >/dev/null || true
in_h1 ping -q -c 1 -W 1 -t 1 10.0.2.2 >/dev/null || true
in_h1 ping -q -c 1 -W 1 -M "do" -s 1400 10.0.2.2 >/dev/null || true
in_h1 ping -q -c 1 -W 1 -s 4000 10.0.2.2 >/dev/null || true
in_h1 ping -6 -q -c 1 -W 1 2001:db8:2::2 >/dev/null || true
in_h1 ping -6 -q -c 1 -W 1 -t 1 2001:db8:2::2 >/dev/null || true
in_h1 ping -6 -q -c 1 -W 1 -M "do" -s 1400 2001:db8:2::2 >/dev/null || true
in_h1 traceroute -n -q 1 -w 1 10.0.1.1 >/dev/null || true
in_h1 traceroute -6 -n -q 1 -w 1 2001:db8:1::1 >/dev/null || true
caught
stop
sound "what a router sends" "$work/router.pcap"
says "ARP replies" "10.0.1.1" read_back "$work/router.pcap" "arp.opcode == 2" arp.src.proto_ipv4
says "echo replies" "10.0.1.1" read_back "$work/router.pcap" "icmp.type == 0 && ip.src == 10.0.1.1" ip.src
says "time exceeded" "10.0.1.1.*10.0.2.2" read_back "$work/router.pcap" "icmp.type == 11" ip.src ip.dst
says "fragmentation needed, with the MTU" "1300" read_back "$work/router.pcap" "icmp.type == 3 && icmp.code == 4" icmp.mtu
says "port unreachable" "10.0.1.1" read_back "$work/router.pcap" "icmp.type == 3 && icmp.code == 3" ip.src
says "fragments" "1" read_back "$work/router.pcap" "ip.flags.mf == 1" ip.flags.mf
says "neighbour advertisements" "2001:db8:1::1.*02:00:00:00:01:01" read_back "$work/router.pcap" "icmpv6.type == 136" \
  icmpv6.nd.na.target_address icmpv6.opt.linkaddr
says "IPv6: time exceeded" "2001:db8" read_back "$work/router.pcap" "icmpv6.type == 3" ipv6.src
says "IPv6: packet too big" "[0-9]" read_back "$work/router.pcap" "icmpv6.type == 2" icmpv6.mtu
says "IPv6: port unreachable" "2001:db8" read_back "$work/router.pcap" "icmpv6.type == 1 && icmpv6.code == 4" ipv6.src

# encapsulation WHAT ELEMENTS FILTER FIELD VALUE: ten packets through elements that put headers on.
encapsulation() {
  "$clique" run -e "s :: InfiniteSource(LIMIT 10, LENGTH 64, STOP true) -> $2 -> ToDump($work/made.pcap, ENCAP ETHER)" >>"$work/log" 2>&1 ||
    fail "$1"
  sound "$1" "$work/made.pcap"
  says "$1: $4" "$5" read_back "$work/made.pcap" "$3" "$4"
}
ether='EtherEncap(0x0800, 02:00:00:00:00:01, 02:00:00:00:00:02)'
ether6='EtherEncap(0x86dd, 02:00:00:00:00:01, 02:00:00:00:00:02)'
udp='UDPIPEncap(10.0.0.1, 1000, 10.0.0.2, 2000)'
encapsulation "UDP in IPv4" "$udp -> $ether" udp udp.dstport 2000
encapsulation "a VLAN" "$udp -> EtherVLANEncap(0x0800, 02:00:00:00:00:01, 02:00:00:00:00:02, VLAN_ID 7)" vlan vlan.id 7
encapsulation "IPv4 in IPv4" "$udp -> IPEncap(4, 192.0.2.1, 192.0.2.2) -> $ether" "ip.proto == 4" ip.src "192.0.2.1,10.0.0.1"
encapsulation "IPv4 in IPv6" "$udp -> IP6Encap(4, 2001:db8::1, 2001:db8::2) -> $ether6" ipv6 ipv6.dst "2001:db8::2"
encapsulation "an echo request" "ICMPPingEncap(10.0.0.1, 10.0.0.2) -> $ether" "icmp.type == 8" ip.dst 10.0.0.2
encapsulation "fragments" "UDPIPEncap(10.0.0.1, 1, 10.0.0.2, 2) -> MarkIPHeader -> IPFragmenter(48) -> $ether" "ip.flags.mf == 1" ip.len 44
encapsulation "a label of a cluster" "$udp -> VLBEncap(3, 1)" ip ip.dst 10.0.0.2
