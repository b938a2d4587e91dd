#!/usr/bin/env bash
# What ESPEncap encrypts scapy decrypts, and the other way round: with keys of both lengths, and with both lengths of sequence numbers.
# About 10 s.
source "$(dirname "$0")/lib.sh"
python=/usr/bin/python3 # Debian's, which has Debian's scapy
$python -c 'import scapy, cryptography' 2>/dev/null ||
  skip "scapy is not installed (apt-get install python3-scapy python3-cryptography)"
esp() { $python "$(dirname "$0")/esp.py" "$@"; }

esp plain "$work/plain.pcap"
short=00112233445566778899aabbccddeeff01020304
long=00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff01020304
for key in $short $long; do
  echo "$key" >"$work/key"
  for extended in 0 1; do
    association="0x1001, KEYFILE $work/key, ESN $extended"
    what="AES-$(((${#key} - 8) * 4)), ESN $extended"
    "$clique" run -e "FromDump($work/plain.pcap, STOP true) -> ESPEncap($association) -> IPEncap(esp, 192.0.2.1, 198.51.100.1)
      -> ToDump($work/secret.pcap, ENCAP IP)"
    says "$what: scapy decrypts" "12 of 12 packets as they were, 12 in all" esp check "$work/secret.pcap" "$key" $extended
    esp make "$work/secret.pcap" "$key" $extended
    "$clique" run -e "FromDump($work/secret.pcap, STOP true) -> CheckIPHeader -> StripIPHeader -> ESPDecap($association)
      -> ToDump($work/back.pcap, ENCAP IP)"
    says "$what: Clique decrypts" "12 of 12 packets as they were, 12 in all" esp same "$work/back.pcap"
  done
done
