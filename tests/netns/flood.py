#!/usr/bin/env python3
"""Sends frames at a rate, and says how many it has sent.

usage: flood.py INTERFACE ROUTER_MAC data|arp|nd|syn|syn6 TARGET RATE SECONDS

data: UDP to random ports of TARGET; arp, nd: random hosts ask who has TARGET; syn: random hosts of 198.18.0.0/15 open connections to TARGET;
syn6: random hosts of 2001:db8:f::/64 do.
"""

import ipaddress
import random
import socket
import struct
import sys
import time


def total(data):
    if len(data) % 2:
        data += b"\0"
    words = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while words >> 16:
        words = (words & 0xFFFF) + (words >> 16)
    return ~words & 0xFFFF


def ip(source, target, protocol, payload):
    header = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 20 + len(payload), 0, 0, 64, protocol, 0, source, target)
    return header[:10] + struct.pack("!H", total(header)) + header[12:] + payload


def frames(kind, router, target, own, rng):
    """A thousand different frames."""
    mac = lambda: bytes([2, 0xFF]) + rng.randbytes(4)
    for _ in range(1000):
        if kind == "data":
            udp = struct.pack("!HHHH", rng.randrange(1024, 65536), rng.randrange(1024, 65536), 8 + 18, 0) + bytes(18)
            yield router + own + b"\x08\x00" + ip(socket.inet_aton("10.0.1.2"), target.packed, 17, udp)
        elif kind == "syn":
            source = ipaddress.IPv4Address("198.18.0.0").packed[:2] + rng.randbytes(2)
            tcp = struct.pack("!HHIIBBHHH", rng.randrange(1024, 65536), 80, rng.getrandbits(32), 0, 0x50, 2, 65535, 0, 0)
            pseudo = source + target.packed + struct.pack("!BBH", 0, 6, len(tcp))
            tcp = tcp[:16] + struct.pack("!H", total(pseudo + tcp)) + tcp[18:]
            yield router + own + b"\x08\x00" + ip(source, target.packed, 6, tcp)
        elif kind == "syn6":
            source = ipaddress.IPv6Address("2001:db8:f::").packed[:8] + rng.randbytes(8)
            tcp = struct.pack("!HHIIBBHHH", rng.randrange(1024, 65536), 80, rng.getrandbits(32), 0, 0x50, 2, 65535, 0, 0)
            pseudo = source + target.packed + struct.pack("!IHBB", len(tcp), 0, 0, 6)
            tcp = tcp[:16] + struct.pack("!H", total(pseudo + tcp)) + tcp[18:]
            header = struct.pack("!IHBB16s16s", 0x60000000, len(tcp), 6, 64, source, target.packed)
            yield router + own + b"\x86\xdd" + header + tcp
        elif kind == "arp":
            sender = mac()
            network = target.packed[:3] + bytes([rng.randrange(10, 250)])
            arp = struct.pack("!HHBBH6s4s6s4s", 1, 0x0800, 6, 4, 1, sender, network, bytes(6), target.packed)
            yield b"\xff" * 6 + sender + b"\x08\x06" + arp + bytes(18)
        else:
            sender = mac()
            source = target.packed[:8] + rng.randbytes(8)
            group = ipaddress.IPv6Address("ff02::1:ff00:0").packed[:13] + target.packed[13:]
            icmp = struct.pack("!BBHI16sBB6s", 135, 0, 0, 0, target.packed, 1, 1, sender)
            pseudo = source + group + struct.pack("!IHBB", len(icmp), 0, 0, 58)
            icmp = icmp[:2] + struct.pack("!H", total(pseudo + icmp)) + icmp[4:]
            header = struct.pack("!IHBB16s16s", 0x60000000, len(icmp), 58, 255, source, group)
            yield b"\x33\x33" + group[12:] + sender + b"\x86\xdd" + header + icmp


def main():
    interface, router, kind, target, rate, seconds = sys.argv[1:]
    router, target = bytes.fromhex(router.replace(":", "")), ipaddress.ip_address(target)
    out = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
    out.bind((interface, 0))
    ready = list(frames(kind, router, target, out.getsockname()[4], random.Random(7)))
    begin, sent = time.monotonic(), 0
    while (passed := time.monotonic() - begin) < float(seconds):
        for _ in range(min(int(passed * float(rate)) - sent, 200)):
            try:
                out.send(ready[sent % len(ready)])
            except OSError:
                continue  # no room at this moment
            sent += 1
        time.sleep(0.001)
    print(sent)


main()
