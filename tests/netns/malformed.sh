#!/usr/bin/env bash
# Malformed packets, made with scapy: PACKETS of them (default 1500), from SEED. The router goes on, and lets nothing through that is
# not a packet. About 15 s.
source "$(dirname "$0")/lib.sh" tcpdump
python=/usr/bin/python3 # Debian's, which has Debian's scapy
$python -c 'import scapy' 2>/dev/null || skip "scapy is not installed (apt-get install python3-scapy)"

build
for configuration in linux-router frr-router; do
  case $configuration in
  linux-router) start -j2 -u "$work/socket" "$root/conf/linux-router.click" ;;
  frr-router) kernel_has_addresses && kernel_router && start -j2 -u "$work/socket" "$work/router.click" ;;
  esac
  in_h2 tcpdump -Q in -w "$work/out.pcap" -U -i h2e ip or ip6 2>/dev/null &
  capture=$!
  says "$configuration: malformed packets" "sent" in_h1 $python "$(dirname "$0")/malformed.py" send h1e 02:00:00:00:01:01 "${SEED:-1}" "${PACKETS:-1500}"
  says "the router goes on" " 0% packet loss" in_h1 ping -c 3 -i 0.2 -W 2 10.0.2.2
  says "IPv6: the router goes on" " 0% packet loss" in_h1 ping -6 -c 3 -i 0.2 -W 2 2001:db8:2::2
  kill "$capture"
  wait "$capture" || true
  says "what came out are packets" " 0 of them bad" $python "$(dirname "$0")/malformed.py" check "$work/out.pcap"
  ! grep -iq panick "$work/log" || fail "$configuration panicked"
  stop
done
