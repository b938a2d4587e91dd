#!/usr/bin/env python3
"""Packets of an IPsec tunnel, made and read by scapy: of IPv4 and IPv6, of all lengths of padding.

usage: esp.py plain CAPTURE | same CAPTURE | make CAPTURE KEY ESN | check CAPTURE KEY ESN

`plain` writes the packets as they are, `same` compares them with a capture; `make` writes them encrypted, `check` decrypts a capture and compares. KEY is
hexadecimal, ESN 0 or 1."""
import sys

from scapy.data import DLT_RAW
from scapy.layers.inet import IP, UDP
from scapy.layers.inet6 import IPv6
from scapy.layers.ipsec import ESP, SecurityAssociation
from scapy.packet import Raw
from scapy.utils import RawPcapReader, RawPcapWriter

# Of all lengths modulo 4, and one of more than one block of AES.
packets = [
    inner / UDP(sport=1000, dport=2000) / Raw(bytes(range(size)))
    for size in (0, 1, 2, 3, 17, 200)
    for inner in (IP(src="10.0.1.1", dst="10.0.2.1"), IPv6(src="2001:db8:1::1", dst="2001:db8:2::1"))
]


def association(key, extended):
    tunnel = IP(src="192.0.2.1", dst="198.51.100.1")
    return SecurityAssociation(ESP, spi=0x1001, crypt_algo="AES-GCM", crypt_key=bytes.fromhex(key), tunnel_header=tunnel,
                               esn_en=extended, esn=0)


def write(capture, packets):
    with RawPcapWriter(capture, linktype=DLT_RAW) as writer:
        writer.write([bytes(packet) for packet in packets])


def compare(found):
    same = [a == bytes(b) for a, b in zip(found, packets)]
    print(f"{sum(same)} of {len(packets)} packets as they were, {len(found)} in all")


def main(action, capture, key="", extended="0"):
    if action == "plain":
        return write(capture, packets)
    if action == "same":
        return compare([data for data, _ in RawPcapReader(capture)])
    ends = association(key, extended == "1")
    if action == "make":
        return write(capture, [ends.encrypt(packet) for packet in packets])
    compare([bytes(ends.decrypt(IP(data))) for data, _ in RawPcapReader(capture)])


main(*sys.argv[1:])
