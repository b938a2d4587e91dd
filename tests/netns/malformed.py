#!/usr/bin/env python3
"""Malformed packets, made with scapy: headers with random fields, cut off, with lengths that lie, options that end nowhere.

usage: malformed.py send INTERFACE ROUTER_MAC SEED COUNT | check CAPTURE

`check` reads what came out at the far side, and fails if a router let a packet through that is not one.
"""

import random
import sys

from scapy.all import (ARP, Dot1Q, Ether, ICMP, ICMPv6DestUnreach, ICMPv6ND_NA, ICMPv6ND_NS, IP, IPv6, IPv6ExtHdrFragment, IPv6ExtHdrHopByHop,
                       IPv6ExtHdrRouting, IPOption, Raw, TCP, UDP, conf, fuzz, raw, rdpcap)


def layers(rng):
    """A packet with random fields; what must be right for it to be looked at at all is right most of the time."""
    to4, to6 = rng.choice(["10.0.2.2", "10.0.2.77", "10.0.1.1", "203.0.113.5"]), rng.choice(["2001:db8:2::2", "2001:db8:1::1", "2001:db8:9::9"])
    four = lambda **fields: IP(src="10.0.1.2", dst=to4, ttl=rng.choice([0, 1, 64]), **fields)
    six = lambda **fields: IPv6(src="2001:db8:1::2", dst=to6, hlim=rng.choice([0, 1, 64, 255]), **fields)
    data = Raw(rng.randbytes(rng.choice([0, 1, 7, 40, 600, 1400])))
    return rng.choice([
        lambda: fuzz(IP()) / data,
        lambda: fuzz(IPv6()) / data,
        lambda: fuzz(ARP()),
        lambda: four(ihl=rng.randrange(16)) / fuzz(UDP()) / data,
        lambda: four(len=rng.randrange(65536)) / fuzz(TCP()) / data,
        lambda: four(options=IPOption(rng.randbytes(rng.randrange(1, 40)))) / UDP() / data,
        lambda: four(flags=rng.randrange(8), frag=rng.randrange(8192)) / data,
        lambda: four() / fuzz(ICMP()) / data,
        lambda: four() / ICMP(type=rng.choice([3, 5, 11, 12])) / rng.randbytes(rng.randrange(40)),
        lambda: six(plen=rng.randrange(65536)) / fuzz(UDP()) / data,
        lambda: six(nh=rng.randrange(256)) / data,
        lambda: six() / fuzz(IPv6ExtHdrHopByHop()) / data,
        lambda: six() / fuzz(IPv6ExtHdrRouting()) / data,
        lambda: six() / fuzz(IPv6ExtHdrFragment()) / data,
        lambda: six() / ICMPv6DestUnreach(type=rng.randrange(256)) / rng.randbytes(rng.randrange(80)),
        lambda: IPv6(src="fe80::1", dst="2001:db8:1::1", hlim=255) / fuzz(ICMPv6ND_NS()) / data,
        lambda: IPv6(src="fe80::1", dst="2001:db8:1::1", hlim=255) / fuzz(ICMPv6ND_NA()) / data,
        lambda: Dot1Q(vlan=rng.randrange(4096)) / four() / data,
    ])()


def frame(rng, mac):
    to = rng.choice([mac] * 8 + ["ff:ff:ff:ff:ff:ff", "01:00:5e:00:00:01", "33:33:00:00:00:01"])
    bytes_ = raw(Ether(src="02:00:00:00:01:02", dst=to) / layers(rng))[:1514]
    if rng.random() < 0.2:
        bytes_ = bytes_[: rng.randrange(14, len(bytes_))]
    if rng.random() < 0.2:
        at = rng.randrange(12, len(bytes_))
        bytes_ = bytes_[:at] + rng.randbytes(1) + bytes_[at + 1 :]
    return bytes_


def send(interface, mac, seed, count):
    import socket

    random.seed(int(seed))  # scapy's own choices
    rng = random.Random(int(seed))
    out = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
    out.bind((interface, 0))
    sent = 0
    while sent < int(count):
        try:
            bytes_ = frame(rng, mac)
        except Exception:  # scapy cannot write every packet that it makes up
            continue
        out.send(bytes_)
        sent += 1
    print(f"{sent} sent")


def check(capture):
    """What must be true of everything that a router sends, whatever it received."""
    bad = seen = 0
    for packet in rdpcap(capture):
        if IP in packet:
            seen += 1
            ip = packet[IP]
            said, ip = ip.chksum, ip.copy()
            del ip.chksum
            right = IP(raw(ip)).chksum == said and packet[IP].version == 4 and packet[IP].len <= len(raw(packet)) - 14
        elif IPv6 in packet:
            seen += 1
            right = packet[IPv6].version == 6 and packet[IPv6].plen <= len(raw(packet)) - 54 and packet[IPv6].hlim > 0
        else:
            continue
        if not right:
            bad += 1
            print(f"not a packet: {raw(packet).hex()}")
    print(f"{seen} came out, {bad} of them bad")
    sys.exit(bad > 0 or seen == 0)


conf.verb = 0
{"send": send, "check": check}[sys.argv[1]](*sys.argv[2:])
