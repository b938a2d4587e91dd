"""The hosts of flow-export.sh, and the comparison of what was sent with what a collector has.

serve ADDRESS...        answers
ask ADDRESS...          sends and receives, and prints as JSON the packets and octets of each direction, as an AF_PACKET socket sees them
compare SENT COLLECTED  compares that with nfdump's JSON
pmacct SENT COLLECTED   compares it with pmacct's lines of JSON
events SENT COLLECTED   compares it with a NAT's and a firewall's events there
lose ADDRESS COUNT      sends so many datagrams that the router drops
drops CAPTURE SOURCE DESTINATION COUNT   looks for sFlow's reports of them, which it reads by sflow_drops.txt of sflow.org
kinds CAPTURE FIELDS    compares the kinds of samples there with those that tshark has seen
"""
import collections
import ipaddress
import json
import socket
import struct
import subprocess
import sys
import threading
import time

# Protocols with ports that are compared, and pings.
TCP, UDP, ICMP, ICMP6 = 6, 17, 1, 58
NEIGHBOURS = range(133, 138)
# As pmacct names them.
PROTOCOLS = {"tcp": TCP, "udp": UDP, "icmp": ICMP, "ipv6-icmp": ICMP6}
# Where the router lets nothing through, and what is sent there behind a number.
LOST, LOST_BYTES = 7003, 200
# Formats of sFlow's standard samples and records (enterprise 0), and what they say.
FLOW_SAMPLE, DISCARDED_PACKET, SAMPLED_HEADER = 1, 5, 1
HEADER_IPV4, REASON_ACL = 11, 258


def serve(addresses):
    for address in addresses:
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        datagrams = socket.socket(family, socket.SOCK_DGRAM)
        datagrams.bind((address, 7001))
        streams = socket.socket(family, socket.SOCK_STREAM)
        streams.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        streams.bind((address, 7002))
        streams.listen()
        threading.Thread(target=answer_datagrams, args=(datagrams,), daemon=True).start()
        threading.Thread(target=answer_streams, args=(streams,), daemon=True).start()
    threading.Event().wait()


def answer_datagrams(server):
    while True:
        data, peer = server.recvfrom(2000)
        if len(data) % 2:  # every other one is answered
            server.sendto(data[: len(data) // 2], peer)


def answer_streams(server):
    while True:
        stream, _ = server.accept()
        with stream:
            length = 0
            while data := stream.recv(65536):
                length += len(data)
            stream.sendall(b"x" * (length // 3))


def connect(address, patience=5):
    until = time.time() + patience
    while True:
        try:
            return socket.create_connection((address, 7002), 3)
        except OSError:
            if time.time() > until:
                raise
            time.sleep(0.1)


def ask(addresses):
    with connect(addresses[0]):
        pass  # it listens
    time.sleep(0.2)
    # What went before is not seen here, and has other ports.
    tap = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(3))
    tap.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 23)
    tap.bind(("h1e", 3))
    for address in addresses:
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        for flow in range(40):
            asker = socket.socket(family, socket.SOCK_DGRAM)
            asker.settimeout(3)
            asker.connect((address, 7001))
            for number in range(1 + flow % 4):
                data = b"d" * (10 + 17 * flow + number)
                asker.send(data)
                if len(data) % 2:
                    assert len(asker.recv(2000)) == len(data) // 2
        for length in (1, 5000, 200_000):
            with connect(address) as stream:
                stream.sendall(b"s" * length)
                stream.shutdown(socket.SHUT_WR)
                answer = 0
                while data := stream.recv(65536):
                    answer += len(data)
                assert answer == length // 3
        subprocess.run(["ping", "-q", "-c", "3", "-i", "0.2", "-s", "300", address], check=True, stdout=subprocess.DEVNULL)
    # One that lasts longer than the active timeout.
    asker = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    asker.connect((addresses[0], 7001))
    for _ in range(15):
        asker.send(b"even")
        time.sleep(0.1)
    time.sleep(0.3)
    tap.setblocking(False)
    flows = collections.defaultdict(lambda: [0, 0, 0])
    while True:
        try:
            packet = tap.recv(70000)
        except BlockingIOError:
            break
        count(flows, packet)
    print(json.dumps([[*flow, *counts] for flow, counts in flows.items()]))


def count(flows, packet):
    version = packet[0] >> 4
    if version == 4:
        header = 4 * (packet[0] & 15)
        length = int.from_bytes(packet[2:4], "big")
        protocol, source, destination = packet[9], packet[12:16], packet[16:20]
    elif version == 6:
        header, length = 40, 40 + int.from_bytes(packet[4:6], "big")
        protocol, source, destination = packet[6], packet[8:24], packet[24:40]
    else:
        return
    if protocol not in (TCP, UDP, ICMP, ICMP6) or protocol == ICMP6 and packet[header] in NEIGHBOURS:
        return
    transport = packet[header:length]
    ports = (0, 0)
    if protocol in (TCP, UDP):
        ports = int.from_bytes(transport[:2], "big"), int.from_bytes(transport[2:4], "big")
    ends = str(ipaddress.ip_address(source)), str(ipaddress.ip_address(destination))
    counts = flows[(protocol, *ends, *ports)]
    counts[0] += 1
    counts[1] += length
    counts[2] |= transport[13] if protocol == TCP else 0


def compare(sent, collected):
    with open(sent) as file:
        wanted = {tuple(flow[:5]): flow[5:] for flow in json.load(file)}
    with open(collected) as file:
        records = json.load(file)
    # Packets, octets, flags, and whether all flags are known: of a record with both directions nfdump 1.7.1 shows those of the second one.
    found = collections.defaultdict(lambda: [0, 0, 0, True])
    for record in records:
        protocol = record["proto"]
        ends = tuple(str(ipaddress.ip_address(record.get(side + "4_addr") or record[side + "6_addr"])) for side in ("src", "dst"))
        ports = (record["src_port"], record["dst_port"]) if protocol in (TCP, UDP) else (0, 0)
        # nfdump writes flags as letters.
        flags = sum(1 << bit for bit, letter in enumerate("FSRPAUEC") if letter in record.get("tcp_flags", ""))
        has_both = record.get("out_packets", 0) > 0
        add(found[(protocol, *ends, *ports)], record["in_packets"], record["in_bytes"], 0 if has_both else flags, not has_both)
        if has_both:
            add(found[(protocol, *ends[::-1], *ports[::-1])], record["out_packets"], record["out_bytes"], flags, True)
    wrong = [(flow, counts, found.get(flow)) for flow, counts in wanted.items() if not same(counts, found.get(flow))]
    print(f"{len(wanted)} flows, {sum(counts[0] for counts in wanted.values())} packets, {len(records)} records")
    for flow, counts, instead in wrong[:20]:
        print(f"{flow}: {counts} sent, {instead} collected")
    sys.exit(len(wrong) > 0 or len(wanted) < 100)


def pmacct(sent, collected):
    with open(sent) as file:
        wanted = {tuple(flow[:5]): flow[5:7] for flow in json.load(file)}
    found = collections.defaultdict(lambda: [0, 0])
    with open(collected) as file:
        for line in file:
            record = json.loads(line)
            if "packets" not in record:
                continue
            protocol = PROTOCOLS.get(record["ip_proto"])
            ends = tuple(str(ipaddress.ip_address(record["ip_" + side])) for side in ("src", "dst"))
            ports = (record["port_src"], record["port_dst"]) if protocol in (TCP, UDP) else (0, 0)
            counts = found[(protocol, *ends, *ports)]
            counts[0] += record["packets"]
            counts[1] += record["bytes"]
    wrong = [(flow, counts, found.get(flow)) for flow, counts in wanted.items() if counts != found.get(flow)]
    print(f"{len(wanted)} flows, {sum(counts[0] for counts in wanted.values())} packets")
    for flow, counts, instead in wrong[:20]:
        print(f"{flow}: {counts} sent, {instead} collected")
    sys.exit(len(wrong) > 0 or len(wanted) < 100)


def events(sent, collected):
    """Each flow that the host began was translated and remembered, once, and that ended, once; no two became the same."""
    with open(sent) as file:
        begun = {tuple(flow[:5]) for flow in json.load(file) if flow[0] in (TCP, UDP) and flow[1] == "10.0.1.2"}
    with open(collected) as file:
        records = json.load(file)
    translated, remembered, became = collections.defaultdict(list), collections.defaultdict(list), collections.Counter()
    for record in records:
        flow = (record["proto"], record["src4_addr"], record["dst4_addr"], record.get("src_port"), record.get("dst_port"))
        if "src4_xlt_ip" in record:
            translated[flow].append(record["nat_event_id"])
            became[(record["proto"], record["src4_xlt_ip"], record["src_xlt_port"], flow[2], flow[4], record["nat_event_id"])] += 1
        else:
            remembered[flow].append(record.get("event_id"))
    # nfdump 1.7.1 knows firewallEvent of version 9 only.
    connection = (["1", "2"], [None, None])
    wrong = [
        (flow, translated[flow], remembered[flow])
        for flow in begun
        if sorted(translated[flow]) != ["4", "5"] or remembered[flow] not in connection
    ]
    print(f"{len(begun)} flows, {len(records)} records, {wrong[:20]}, {[end for end, times in became.items() if times > 1][:20]}")
    sys.exit(len(wrong) > 0 or len(begun) < 40 or max(became.values()) > 1)


def lose(address, count):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asker:
        for number in range(count):
            asker.sendto(number.to_bytes(4, "big") + bytes(LOST_BYTES), (address, LOST))
            time.sleep(0.002)


class Xdr:
    """Reads what RFC 4506 describes."""

    def __init__(self, data):
        self.rest = data

    def take(self, length):
        assert length <= len(self.rest), f"{length} octets of {len(self.rest)}"
        taken, self.rest = self.rest[:length], self.rest[length:]
        return taken

    def unsigned(self):
        return int.from_bytes(self.take(4), "big")

    def opaque(self):
        length = self.unsigned()
        data = self.take(length)
        assert not any(self.take(-length % 4)), "padding"
        return data

    def structures(self, of):
        """A list of structures, each with its format in front and as opaque data."""
        found = []
        for _ in range(self.unsigned()):
            enterprise, kind = divmod(self.unsigned(), 4096)
            assert enterprise == 0, enterprise
            inner = Xdr(self.opaque())
            found.append((kind, of(kind, inner)))
            assert not inner.rest, f"{inner.rest} behind a structure {kind}"
        return found


def flow_record(kind, data):
    assert kind == SAMPLED_HEADER, kind
    fields = {name: data.unsigned() for name in ("protocol", "frame_length", "stripped")}
    return fields | {"header": data.opaque()}


def sample(kind, data):
    names = {
        FLOW_SAMPLE: ("sequence", "source", "rate", "pool", "drops", "input", "output"),
        DISCARDED_PACKET: ("sequence", "source_class", "source_index", "drops", "input", "output", "reason"),
    }[kind]
    return {name: data.unsigned() for name in names} | {"records": data.structures(flow_record)}


def datagrams(capture):
    """The number of the sub-agent and the samples of each datagram of sFlow version 5 in a capture of Ethernet."""
    with open(capture, "rb") as file:
        data = file.read()
    order = "<" if data[:4] == b"\xd4\xc3\xb2\xa1" else ">"
    at = 24
    while at < len(data):
        (length,) = struct.unpack_from(order + "8xI4x", data, at)
        packet = data[at + 16 : at + 16 + length]
        at += 16 + length
        header = 4 * (packet[14] & 15)
        xdr = Xdr(packet[14 + header + 8 :])
        assert xdr.unsigned() == 5, "the version"
        assert (xdr.unsigned(), xdr.take(4)) == (1, ipaddress.ip_address("10.0.2.1").packed), "the agent"
        sub_agent, _sequence, _uptime = (xdr.unsigned() for _ in range(3))
        yield sub_agent, xdr.structures(sample)
        assert not xdr.rest, xdr.rest


def drops(capture, source, destination, count):
    numbers, sequences, untold, together, rest = [], collections.defaultdict(list), {}, 0, collections.Counter()
    ends = ipaddress.ip_address(source).packed + ipaddress.ip_address(destination).packed
    for sub_agent, samples in datagrams(capture):
        together += len({kind for kind, _ in samples}) > 1  # some collectors would lose the samples
        for _, one in (found for found in samples if found[0] == DISCARDED_PACKET):
            sequences[sub_agent].append(one["sequence"])
            untold[sub_agent] = one["drops"]
            assert (one["source_class"], one["source_index"], one["input"], one["output"]) == (0, 7, 7, 0), one
            [(_, record)] = one["records"]
            header = record["header"]
            if header[9] != UDP or header[12:20] != ends or header[22:24] != LOST.to_bytes(2, "big"):
                rest[one["reason"]] += 1
                continue
            length = 28 + 4 + LOST_BYTES
            assert int.from_bytes(header[2:4], "big") == length
            facts = (one["reason"], record["protocol"], record["frame_length"], record["stripped"], len(header))
            assert facts == (REASON_ACL, HEADER_IPV4, length, 0, 128), facts
            numbers.append(int.from_bytes(header[28:32], "big"))
    print(f"{len(numbers)} dropped packets reported; others by reason {dict(rest)}")
    in_order = all(told == list(range(1, len(told) + 1)) for told in sequences.values())
    assert in_order and not any(untold.values()), (sequences, untold)
    assert sorted(numbers) == list(range(count)) and together == 0, (len(numbers), together)


def kinds(capture, fields):
    """tshark counts the samples of each datagram, and names those that it knows: it finds the ones behind those that it does not."""
    with open(fields) as file:
        seen = [line.rstrip("\n").split("\t") for line in file]
    own = [[kind for kind, _ in samples] for _, samples in datagrams(capture)]
    wrong = [
        (ours, theirs)
        for ours, theirs in zip(own, seen, strict=True)
        if [str(len(ours)), ",".join(map(str, ours)), ""] != theirs
    ]
    print(f"{len(own)} datagrams, {wrong[:5]}")
    sys.exit(len(wrong) > 0)


def add(counts, packets, octets, flags, is_known):
    counts[0] += packets
    counts[1] += octets
    counts[2] |= flags
    counts[3] &= is_known


def same(counts, found):
    return found is not None and counts[:2] == found[:2] and (not found[3] or counts[2] == found[2])


match sys.argv[1:]:
    case ["serve", *addresses]:
        serve(addresses)
    case ["ask", *addresses]:
        ask(addresses)
    case ["pmacct", sent, collected]:
        pmacct(sent, collected)
    case ["events", sent, collected]:
        events(sent, collected)
    case ["lose", address, count]:
        lose(address, int(count))
    case ["drops", capture, source, destination, count]:
        drops(capture, source, destination, int(count))
    case ["kinds", capture, fields]:
        kinds(capture, fields)
    case ["compare", sent, collected]:
        compare(sent, collected)
    case _:
        sys.exit(__doc__)
