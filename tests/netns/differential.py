#!/usr/bin/env python3
"""Sends the same random packets to Linux's own forwarding and to Clique, and compares what comes out.

usage: differential.py SEED PACKETS, in a namespace with the interfaces l0 and l1 to the one router, c0 and c1 to the other.

Each packet has a number, in the IPv4 identification or the IPv6 flow label; what comes out is laid to its account, whether it is
the packet itself, a fragment of it or an error that quotes it. Differences that are allowed are listed below with their reasons; any other
is printed, and the exit status is 1.
"""

import os
import random
import select
import socket
import struct
import sys
import time

MTU = int(os.environ.get("MTU", "1300"))  # of the routers' interfaces
LONGEST = MTU + 4  # what a virtual link still delivers to them
ROUTER_MAC = [bytes.fromhex("020000000101"), bytes.fromhex("020000000201")]
HOST_MAC = [bytes.fromhex("020000000102"), bytes.fromhex("020000000202")]
OTHER_MAC = bytes.fromhex("0200000000ee")
# Whom the hosts answer ARP and neighbour solicitations for.
HOSTS4 = [{"10.0.1.2"}, {"10.0.2.2"}]
HOSTS6 = [{"2001:db8:1::2"}, {"2001:db8:2::2"}]
FENCE = 0xFFFF  # the number of packets that only show that all before them have been dealt with

v4 = lambda text: socket.inet_pton(socket.AF_INET, text)
v6 = lambda text: socket.inet_pton(socket.AF_INET6, text)


def checksum(data):
    data = data + b"\0" * (len(data) % 2)
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


# ---- What is sent.


def ipv4(rng, number, port):
    """A random IPv4 packet that arrives at a port."""
    other = 1 - port
    # Linux limits some errors per sender, so there are many; they are behind the port where they arrive, most of them.
    source = rng.choice(
        ["198.18.%d.%d" % (128 * port + rng.randrange(128), rng.randrange(256))] * 16
        + [f"10.0.{port + 1}.2", f"10.0.{other + 1}.2", "198.18.%d.%d" % (128 * other + rng.randrange(128), rng.randrange(256)), "127.0.0.1", "0.0.0.0", "0.1.2.3", "255.255.255.255", "224.0.0.5",
           f"10.0.{port + 1}.255", "240.0.0.1", f"10.0.{port + 1}.1", f"10.0.{other + 1}.1"]
    )
    destination = rng.choice(
        [f"10.0.{other + 1}.2"] * 4
        + ["203.0.113.%d" % rng.randrange(256), "198.51.100.%d" % rng.randrange(256)] * 4
        + ["192.168.1.1", "192.168.2.1", "192.168.3.1", "8.8.8.8", "240.1.1.1"] * 2
        + ["127.0.0.1", "0.0.0.0", "0.1.2.3", "255.255.255.255", "224.0.0.5", "239.1.2.3", f"10.0.{other + 1}.255"]
    )
    options = b""
    if rng.random() < 0.2:
        options = rng.choice(
            [b"\1\1\1\0", b"\7\7\4\0\0\0\0", b"\7\x0b\4" + bytes(8), b"\7\7\5\0\0\0\0", b"\7\2", b"\x44\x08\5\0\0\0\0\0",
             b"\x44\x0c\5\1" + bytes(8), b"\x44\x08\5\xf0\0\0\0\0", b"\x44\x08\x09\xf0\0\0\0\0", b"\x44\x04\5\0", b"\x82\x0b" + bytes(9),
             b"\x99\4\1\2", b"\x99\0\1\2", b"\x99\x28\1\2", b"\x88\4\0\1", bytes(rng.randrange(256) for _ in range(8))]
        )
        options += bytes(-len(options) % 4)
    protocol = rng.choice([17] * 5 + [6, 1, 1, 47, 255])
    size = rng.choice([rng.randrange(0, 100)] * 3 + [rng.randrange(500, 640), rng.randrange(MTU - 28, LONGEST - 19)])
    payload = bytes(rng.randrange(256) for _ in range(8)) + bytes(max(0, size - 8))
    if protocol == 1:
        payload = bytes([rng.choice([8, 8, 0, 3, 11, 5, 13]), 0, 0, 0]) + payload[4:]
    payload = payload[: max(0, LONGEST - 20 - len(options))]
    fragment = rng.choice([0] * 5 + [0x4000] * 4 + [0x2000, 0x2000 | 40, 7, 0x1FFF, 0x8000, 0xC000])
    ttl = rng.choice([64] * 8 + [0, 1, 1, 2, 255])
    length = 20 + len(options) + len(payload)
    said, version, words = length, 4, 5 + len(options) // 4
    flaw = rng.random()
    if flaw < 0.02:
        said = rng.randrange(0, length)  # what follows is padding
    elif flaw < 0.04:
        said = length + rng.randrange(1, 100)
    elif flaw < 0.06:
        version = rng.choice([0, 3, 5, 6, 15])
    elif flaw < 0.08:
        words = rng.choice([0, 4, 15])
    tos = rng.choice([0, 0, 0x10, 0xB8, rng.randrange(256)])
    header = struct.pack("!BBHHHBBH4s4s", version << 4 | words, tos, said, number, fragment, ttl, protocol, 0, v4(source), v4(destination))
    header += options
    covered = (header + payload)[: 4 * words] if words >= 5 else header
    sum_ = checksum(covered) ^ (0 if rng.random() < 0.97 else rng.randrange(1, 0x10000))
    return 0x0800, header[:10] + struct.pack("!H", sum_) + header[12:] + payload


def ipv6(rng, number, port):
    """A random IPv6 packet that arrives at a port."""
    other = 1 - port
    source = rng.choice(
        ["2001:db8:%s::%x" % ("ab"[port], rng.randrange(1, 9999))] * 16
        + [f"2001:db8:{port + 1}::2", "2001:db8:%s::9" % "ba"[port], f"2001:db8:{other + 1}::2", "::", "::1", "fe80::1", "ff02::1", "fec0::1", "::ffff:1.2.3.4", "fd00::1"]
    )
    destination = rng.choice(
        [f"2001:db8:{other + 1}::2"] * 4
        + ["2001:db8:a::%x" % rng.randrange(1, 999), "2001:db8:b::%x" % rng.randrange(1, 999)] * 4
        + ["2001:db8:f1::1", "2001:db8:f2::1", "2001:db8:f3::1", "2a00::1"] * 2
        + ["::", "::1", "fe80::77", "ff02::1", "ff0e::1", "::1.2.3.4"]
    )
    protocol = rng.choice([17] * 5 + [6, 58, 58, 47, 59, 255])
    size = rng.choice([rng.randrange(0, 100)] * 3 + [rng.randrange(1180, 1240), rng.randrange(MTU - 48, LONGEST - 39)])
    payload = bytes(rng.randrange(256) for _ in range(8)) + bytes(max(0, size - 8))
    if protocol == 58:
        payload = bytes([rng.choice([128, 129, 1, 3, 4, 137, 200]), 0, 0, 0]) + payload[4:]
    for _ in range(rng.choice([0] * 6 + [1, 1, 2])):
        kind, body = rng.choice(
            [(60, b"\1\4" + bytes(4)), (44, b"\0\0\0\1" + bytes(2)), (44, b"\0\7\0\1" + bytes(2)), (43, bytes([0, 0]) + bytes(4)),
             (0, b"\5\2\0\0\1\0"), (60, b"\xc5\4" + bytes(4))]
        )
        if kind == 44:  # its second byte is reserved
            payload = bytes([protocol, 0]) + body + payload
        else:
            payload = bytes([protocol, 0]) + body + payload
        protocol = kind
    payload = payload[: LONGEST - 40]
    hops = rng.choice([64] * 8 + [0, 1, 1, 2, 255])
    said, version = len(payload), 6
    flaw = rng.random()
    if flaw < 0.02:
        said = rng.randrange(0, len(payload) + 1)
    elif flaw < 0.04:
        said += rng.randrange(1, 100)
    elif flaw < 0.06:
        version = rng.choice([0, 4, 5, 7])
    word = version << 28 | rng.choice([0, 0, 0xB8, rng.randrange(256)]) << 20 | number
    return 0x86DD, struct.pack("!IHBB16s16s", word, said, protocol, hops, v6(source), v6(destination)) + payload


def frame(rng, number):
    """The port that a random frame arrives at, and the frame."""
    port = rng.randrange(2)
    kind, packet = rng.choice([ipv4, ipv6])(rng, number, port)
    to = rng.choice([ROUTER_MAC[port]] * 30 + [OTHER_MAC, b"\xff" * 6, bytes.fromhex("01005e000005"), bytes.fromhex("333300000001")])
    return port, to + HOST_MAC[port] + struct.pack("!H", kind) + packet


def fences(port):
    """Packets whose effects show at either port, for either family."""
    for ttl in (64, 1):
        source, destination = f"10.0.{port + 1}.2", f"10.0.{2 - port}.2"
        header = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 28, FENCE, 0, ttl, 17, 0, v4(source), v4(destination))
        header = header[:10] + struct.pack("!H", checksum(header)) + header[12:]
        yield ROUTER_MAC[port] + HOST_MAC[port] + b"\x08\x00" + header + bytes(8)
        source, destination = f"2001:db8:{port + 1}::2", f"2001:db8:{2 - port}::2"
        header = struct.pack("!IHBB16s16s", 6 << 28 | FENCE, 8, 17, ttl, v6(source), v6(destination))
        yield ROUTER_MAC[port] + HOST_MAC[port] + b"\x86\xdd" + header + bytes(8)


# ---- What comes out.


def number_of(frame):
    """The number of the packet that a frame is, or quotes, and whether it quotes it. None: neither."""
    kind, packet = frame[12:14], frame[14:]
    if kind == b"\x08\x00" and len(packet) >= 20:
        inner = packet[4 * (packet[0] & 15) + 8 :]
        if len(inner) >= 20 and error4(frame) and inner[0] >> 4 == 4:
            return struct.unpack("!H", inner[4:6])[0], True
        return struct.unpack("!H", packet[4:6])[0], False
    if kind == b"\x86\xdd" and len(packet) >= 40:
        inner = packet[48:]
        if packet[6] == 58 and len(inner) >= 40 and packet[40] in (1, 2, 3, 4, 137) and packet[8:24] in ROUTERS6:
            return struct.unpack("!I", inner[:4])[0] & 0xFFFFF, True
        return struct.unpack("!I", packet[:4])[0] & 0xFFFFF, False
    return None


def error4(frame):
    """Type and code of the ICMP error of a router that a frame is, or None."""
    packet = frame[14:]
    at = 4 * (packet[0] & 15)
    if frame[12:14] != b"\x08\x00" or packet[9] != 1 or packet[12:16] not in ROUTERS4 or packet[at] not in (3, 5, 11, 12):
        return None
    return packet[at], packet[at + 1]


ROUTERS4 = {v4("10.0.1.1"), v4("10.0.2.1")}
ROUTERS6 = {v6("2001:db8:1::1"), v6("2001:db8:2::1")}


def answer(frame, port):
    """The answer of a port's host to an ARP request or a neighbour solicitation."""
    kind, packet = frame[12:14], frame[14:]
    if kind == b"\x08\x06" and packet[6:8] == b"\0\1" and socket.inet_ntoa(packet[24:28]) in HOSTS4[port]:
        reply = packet[:6] + b"\0\2" + HOST_MAC[port] + packet[24:28] + packet[8:18]
        return frame[6:12] + HOST_MAC[port] + b"\x08\x06" + reply
    if kind == b"\x86\xdd" and packet[6] == 58 and packet[40] == 135 and socket.inet_ntop(socket.AF_INET6, packet[48:64]) in HOSTS6[port]:
        message = b"\x88\0\0\0\x60\0\0\0" + packet[48:64] + b"\2\1" + HOST_MAC[port]
        pseudo = packet[48:64] + packet[8:24] + struct.pack("!II", len(message), 58)
        message = message[:2] + struct.pack("!H", checksum(pseudo + message)) + message[4:]
        return frame[6:12] + HOST_MAC[port] + b"\x86\xdd" + struct.pack("!IHBB", 6 << 28, len(message), 58, 255) + packet[48:64] + packet[8:24] + message
    return None


def is_solicitation(frame):
    return frame[12:14] == b"\x08\x06" or (frame[12:14] == b"\x86\xdd" and frame[20] == 58 and frame[54] in range(130, 137)) or (
        frame[12:14] == b"\x86\xdd" and frame[20] == 0 and frame[14 + 24] == 0xFF)


def check(frame):
    """What is wrong with a frame that a router sent."""
    packet = frame[14:]
    if frame[12:14] == b"\x08\x00":
        words = packet[0] & 15
        if checksum(packet[: 4 * words]) != 0:
            return "bad IP checksum"
        if error4(frame):
            if checksum(packet[4 * words : struct.unpack("!H", packet[2:4])[0]]) != 0:
                return "bad ICMP checksum"
    elif number_of(frame) and number_of(frame)[1]:
        message = packet[40:]
        if checksum(packet[8:40] + struct.pack("!II", len(message), 58) + message) != 0:
            return "bad ICMPv6 checksum"
    return None


# Differences that are allowed, with their reasons.


def plain(frame, quotes):
    """What of a frame both routers must agree about."""
    packet = bytearray(frame[14:])
    if not quotes:
        return bytes(frame[:14] + packet)
    if frame[12:14] == b"\x08\x00":
        # Errors that a router makes itself: the type of service (Linux has precedence 6; RFC 1812, section 4.3.2.5, lets either), the
        # identification and whether it may be fragmented, and the time to live are each implementation's own choice.
        packet[1] = packet[8] = 0
        packet[4:8] = bytes(4)
        packet[10:12] = bytes(2)
        inner = 4 * (packet[0] & 15) + 8
        # What was done to the quoted packet before the error was found need not be undone (RFC 1812, section 4.3.2.3): its time to live and
        # so its checksum; and with them the message's checksum.
        packet[inner + 8] = 0
        packet[inner + 10 : inner + 12] = packet[inner - 6 : inner - 4] = bytes(2)
    else:
        # The same: traffic class and flow label, hop limit; the quoted hop limit and the message's checksum.
        packet[0:4] = b"\x60\0\0\0"
        packet[7] = packet[48 + 7] = 0
        packet[42:44] = bytes(2)
    return bytes(frame[:14] + packet)


def excuse(sent, port, linux, clique):
    """The reason why two routers may treat a packet differently, or None."""
    packet = sent[14:]
    if sent[12:14] == b"\x08\x00":
        is_redirect = lambda f: (error4(f) or (0, 0))[0] == 5
        if any(is_redirect(f) for _, f in clique):
            rest = [(p, f) for p, f in clique if not is_redirect(f)]
            if same(rest, linux) or excuse(sent, port, linux, rest):
                return "redirect: Linux limits them per neighbour, so here it was told to send none"
        if not clique and (0 in (packet[12], packet[16]) and bytes(4) not in (packet[12:16], packet[16:20])):
            return "0.0.0.0/8: hosts for Linux since 5.3, no host by RFC 1122, section 3.2.1.3"
        if not clique and packet[12:14] == b"\x0a\0" and packet[15] == 255:
            return "from a broadcast address: Linux answers broadcasts; RFC 1812, section 4.3.2.7, forbids it"
        options = packet[20 : 4 * (packet[0] & 15)]
        kinds = lambda outputs: {error4(f) for _, f in outputs if error4(f)}
        nowhere = {(3, 0), (3, 1), (3, 13)}
        if options and {kind for kind, _ in kinds(linux)} == {12} and len(linux) == 1 and kinds(clique) <= nowhere and len(kinds(clique)) == len(clique):
            return "a bad option and no way: Linux looks at the option first, Clique at the route"
        errors = lambda outputs: sorted((p, error4(f) or (0, 0)) for p, f in outputs)
        if options[:1] in (b"\7", b"\x44") and errors(linux) == errors(clique) and len(clique) == 1 and kinds(clique):
            return "record route or time stamps: Linux repeats the option in its errors, and fills it in before it looks for a way"
        if options[:1] == b"\x44" and len(options) > 3 and options[3] >> 4 == 15 and not linux and len(clique) == 1 and kinds(clique) <= nowhere:
            return "time stamps that say that fifteen hosts had no room, and no way: Linux says nothing"
        if packet[9] == 1 and struct.unpack("!H", packet[2:4])[0] < 4 * (packet[0] & 15) + 8 and not clique:
            return "about an ICMP message that is cut off: it may have been an error (RFC 1812, section 4.3.2.7)"
        if packet[12:16] in (v4("10.0.1.2"), v4("10.0.2.2")) and not linux and len(clique) == 1 and kinds(clique) <= nowhere:
            return "no way: Linux limits errors per sender, to one a second"
        timed = b"\x44" in options
        if len(linux) > 1 and sorted(unfragmented(o, timed) for o in linux) == sorted(unfragmented(o, timed) for o in clique):
            return "fragments: Linux clears the reserved flag, and leaves no-operations where options are not copied; Clique shortens the header"
        offset = struct.unpack("!H", packet[6:8])[0] & 0x1FFF
        if not clique and 8 * offset + len(packet) - 20 > 0xFFFF:
            return "fragments behind the end of what can be a packet: Linux sends those that are not"
        if b"\0" in options and sorted(map(ended, linux)) == sorted(map(ended, clique)):
            return "bytes behind the end of options: Linux clears them, Clique leaves what is not read as it is (RFC 791, section 3.1)"
        if b"\x44" in options and sorted(map(untimed, linux)) == sorted(map(untimed, clique)):
            return "time stamps: two clocks"
        if options and sorted(map(pointless, linux)) == sorted(map(pointless, clique)):
            return "parameter problem: one points to an option's length, the other to its type (RFC 792 lets either)"
    elif sent[12:14] == b"\x86\xdd":
        source = packet[8:24]
        arrived = [(p, f) for p, f in linux if number_of(f)[1] and f[22:38] == v6(f"2001:db8:{port + 1}::1")]
        if len(linux) == len(clique) == len(arrived) and linux[0][0] == clique[0][0] != port and sourceless(linux[0]) == sourceless(clique[0]):
            return "a sender behind another port: Linux answers from the address where the packet arrived, Clique from that where the answer leaves (RFC 4443, section 2.2, lets either)"
        if not clique and upper_layer(packet) == (58, 137):
            return "an error about a redirect: RFC 4443, section 2.4 e.2, forbids it"
        hairpin = [p for p, _ in linux] == [port]
        if not clique and packet[24:26] == b"\xfe\x80":
            return "to a host on the link itself: Linux looks for it there, Clique does not forward it (RFC 4291, section 2.5.6)"
        if not clique and hairpin and source[:2] == b"\xfe\x80":
            return "a sender on the link itself: Linux forwards if the packet leaves there, Clique never (RFC 4291, section 2.5.6)"
        if not clique and hairpin and (source == bytes(16) or source[0] == 0xFF):
            return "no sender's address: Linux forwards such a packet if it leaves where it came from (RFC 4291, section 2.5.2: never)"
    return None


def upper_layer(packet):
    """The protocol behind an IPv6 packet's extension headers, and the first byte of it."""
    kind, at = packet[6], 40
    while kind in (0, 43, 44, 60) and at + 2 <= len(packet):
        kind, at = packet[at], at + (8 if kind == 44 else 8 * (packet[at + 1] + 1))
    return kind, packet[at] if at < len(packet) else None


def unfragmented(output, timed):
    """An output without what fragmentation may do in either way: the reserved flag, and the options of later fragments; of all if they are
    `timed`."""
    port, frame = output
    packet = bytearray(frame)
    if frame[12:14] == b"\x08\x00":
        packet[20] &= 0x7F
        packet[24:26] = bytes(2)
        if timed or struct.unpack("!H", packet[20:22])[0] & 0x1FFF:
            del packet[34 : 14 + 4 * (packet[14] & 15)]
            packet[14], packet[16:18] = 0x45, bytes(2)
    return port, bytes(packet)


def sourceless(output):
    """An ICMPv6 error without the address that it comes from."""
    port, frame = output
    packet = bytearray(plain(frame, True))
    packet[14 + 8 : 14 + 24] = bytes(16)
    return port, bytes(packet)


def ended(output):
    """An output without what is behind the end of its IP header's options, or of those of the packet that it quotes, and header checksums."""
    port, frame = output
    quotes = bool(number_of(frame) and number_of(frame)[1])
    packet = bytearray(plain(frame, quotes))
    at = 14 + (4 * (packet[14] & 15) + 8 if quotes else 0)
    packet[at + 10 : at + 12] = bytes(2)
    option, end = at + 20, min(at + 4 * (packet[at] & 15), len(packet))
    while option < end and packet[option]:
        option += 1 if packet[option] == 1 else max(2, packet[option + 1] if option + 1 < end else 2)
    packet[option:end] = bytes(max(0, end - option))
    return port, bytes(packet)


def pointless(output):
    """An output without the pointer of a parameter problem."""
    port, frame = output
    packet = bytearray(plain(frame, bool(number_of(frame) and number_of(frame)[1])))
    if (error4(frame) or (0, 0))[0] == 12:
        packet[18 + 4 * (packet[14] & 15)] = 0
    return port, bytes(packet)


def untimed(output):
    """An output without the time stamps of an IP option, and what depends on them."""
    port, frame = output
    packet = bytearray(plain(frame, bool(number_of(frame) and number_of(frame)[1])))
    if 4 * (packet[14] & 15) > 20:
        packet[24:26] = bytes(2)
        packet[34 : 14 + 4 * (packet[14] & 15)] = b""
    return port, bytes(packet)


def same(linux, clique):
    reduced = lambda outputs: sorted((port, plain(f, bool(number_of(f) and number_of(f)[1]))) for port, f in outputs)
    return reduced(linux) == reduced(clique)


# ---- The comparison.


class Ports:
    """A router's two ports, as the hosts behind them see them."""

    def __init__(self, names):
        self.sockets = []
        for name in names:
            opened = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
            opened.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 24)
            opened.bind((name, 0))
            self.sockets.append(opened)

    def send(self, port, frame):
        self.sockets[port].send(frame.ljust(60, b"\0"))

    def receive(self, port):
        """A frame that the router sent, or None."""
        try:
            frame, where = self.sockets[port].recvfrom(65535, socket.MSG_DONTWAIT)
        except BlockingIOError:
            return None
        return b"" if where[2] == socket.PACKET_OUTGOING else frame


def trimmed(frame):
    """A frame without padding."""
    if frame[12:14] == b"\x08\x00":
        return frame[: 14 + struct.unpack("!H", frame[16:18])[0]]
    if frame[12:14] == b"\x86\xdd":
        return frame[: 54 + struct.unpack("!H", frame[18:20])[0]]
    return frame


def collect(routers, outputs, until):
    """Takes in what the routers send, until all fences have come and then a moment more."""
    missing = {(name, port, kind) for name in routers for port in (0, 1) for kind in (b"\x08\x00", b"\x86\xdd")}
    missing = {(*m, quotes) for m in missing for quotes in (False, True)}
    sockets = {s: (name, port) for name, ports in routers.items() for port, s in enumerate(ports.sockets)}
    grace = None
    while time.monotonic() < (grace or until):
        ready, _, _ = select.select(list(sockets), [], [], 0.01)
        for s in ready:
            name, port = sockets[s]
            while (frame := routers[name].receive(port)) is not None:
                if not frame:
                    continue
                if reply := answer(frame, port):
                    routers[name].send(port, reply)
                elif number := number_of(frame):
                    if number[0] == FENCE:
                        missing.discard((name, port, frame[12:14], number[1]))
                    elif not is_solicitation(frame) or number[1]:
                        outputs[name].setdefault(number[0], []).append((port, trimmed(frame)))
        if not missing and grace is None:
            grace = time.monotonic() + 0.005
    return not missing


def show(outputs):
    return "".join(f"\n      port {port}: {frame.hex()}" for port, frame in sorted(outputs)) or " nothing"


def main():
    seed, count = int(sys.argv[1]), int(sys.argv[2])
    rng = random.Random(seed)
    routers = {"linux": Ports(["l0", "l1"]), "clique": Ports(["c0", "c1"])}
    outputs = {"linux": {}, "clique": {}}

    def fence(seconds):
        for port in (0, 1):
            for each in fences(port):
                for ports in routers.values():
                    ports.send(port, each)
        return collect(routers, outputs, time.monotonic() + seconds)

    for _ in range(20):  # until all addresses are known
        if fence(1):
            break
    else:
        sys.exit("a router does not forward")
    for each in outputs.values():
        each.clear()

    sent, excuses, failures, forwarded, errors, dropped = {}, {}, 0, 0, 0, 0
    number = 0
    while number < count:
        window = range(number + 1, min(number + 32, count) + 1)
        for number in window:
            port, packet = frame(rng, number)
            sent[number] = packet, port
            for ports in routers.values():
                ports.send(port, packet)
        if not fence(10):
            sys.exit(f"packets {window}: a router does not answer any more")
        for i in window:
            linux, clique = outputs["linux"].pop(i, []), outputs["clique"].pop(i, [])
            quotes = [number_of(f)[1] for _, f in clique]
            forwarded += quotes.count(False) > 0
            errors += quotes.count(True) > 0
            dropped += not clique
            wrong = [check(f) for _, f in clique if check(f)]
            if same(linux, clique) and not wrong:
                continue
            if (reason := excuse(*sent[i], linux, clique)) and not wrong:
                excuses[reason] = excuses.get(reason, 0) + 1
                continue
            failures += 1
            if failures <= 20:
                print(f"  packet {i}: {sent[i][0].hex()}\n    Linux:{show(linux)}\n    Clique:{show(clique)} {wrong or ''}")
    print(f"{count} packets, seed {seed}: {forwarded} forwarded, {errors} answered with errors, {dropped} dropped, {failures} unexplained differences")
    for reason, times in sorted(excuses.items()):
        print(f"  {times} times: {reason}")
    sys.exit(failures > 0)


main()
