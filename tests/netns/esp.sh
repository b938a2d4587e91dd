#!/usr/bin/env bash
# What ESPEncap encrypts scapy decrypts, and the other way round: with keys of both lengths, and with both lengths of sequence numbers.
# tshark decrypts it, too. About 15 s.
source "$(dirname "$0")/lib.sh"
python=/usr/bin/python3 # Debian's, which has Debian's scapy
$python -c 'import scapy, cryptography' 2>/dev/null ||
  skip "scapy is not installed (apt-get install python3-scapy python3-cryptography)"
esp() { $python "$(dirname "$0")/esp.py" "$@"; }

command -v tshark >/dev/null || skip "tshark is not installed (apt-get install tshark)"

# seen FILE [OPTION]...: what tshark sees of UDP in a file.
seen() { tshark -r "$1" "${@:2}" -T fields -e udp.port -e udp.length -e udp.checksum -e data.data 2>/dev/null; }

# tshark_decrypts KEY: what it sees in ESP is what was in plain packets. Its version 4.0 knows no extended numbers.
tshark_decrypts() {
  local association="\"IPv4\",\"192.0.2.1\",\"198.51.100.1\",\"0x00001001\",\"AES-GCM with 16 octet ICV [RFC4106]\",\"0x$1\",\"NULL\",\"\""
  seen "$work/secret.pcap" -o esp.enable_encryption_decode:TRUE -o "uat:esp_sa:$association" >"$work/seen"
  seen "$work/plain.pcap" | diff - "$work/seen" >/dev/null && [ "$(wc -l <"$work/seen")" = 12 ]
}

esp plain "$work/plain.pcap"
short=00112233445566778899aabbccddeeff01020304
long=00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff01020304
for key in $short $long; do
  (umask 077; echo "$key" >"$work/key")
  for extended in 0 1; do
    association="0x1001, KEYFILE $work/key, ESN $extended"
    what="AES-$(((${#key} - 8) * 4)), ESN $extended"
    "$clique" run -e "FromDump($work/plain.pcap, STOP true) -> ESPEncap($association) -> IPEncap(esp, 192.0.2.1, 198.51.100.1)
      -> ToDump($work/secret.pcap, ENCAP IP)"
    says "$what: scapy decrypts" "12 of 12 packets as they were, 12 in all" esp check "$work/secret.pcap" "$key" $extended
    if [ $extended = 0 ]; then
      tshark_decrypts "$key" || fail "$what: tshark sees $(cat "$work/seen")"
      echo "ok: $what: tshark decrypts"
    fi
    esp make "$work/secret.pcap" "$key" $extended
    "$clique" run -e "FromDump($work/secret.pcap, STOP true) -> CheckIPHeader -> StripIPHeader -> ESPDecap($association)
      -> ToDump($work/back.pcap, ENCAP IP)"
    says "$what: Clique decrypts" "12 of 12 packets as they were, 12 in all" esp same "$work/back.pcap"
  done
done
