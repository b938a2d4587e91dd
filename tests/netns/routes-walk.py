#!/usr/bin/env python3
"""Changes the kernel's routes, next-hop objects and links at random, and compares where the kernel and Clique send packets. With the directory
of a zebra's sockets in ZEBRA, static routes of FRR change instead, which zebra tells the kernel and Clique of.

usage: routes-walk.py SEED STEPS SOCKET ROUTER HOST1 HOST2, of which the last three are network namespaces: the one with the router's eth0 and
eth1, and those behind them, with h1e and h2e. SOCKET is the router's control socket; its lookup elements are routes and routes6.

After each step a sample of addresses is asked for: of the kernel what `ip route get fibmatch` asks, of Clique the handler `lookup`. Clique has two
seconds to agree. The kernel's answer is a route, all of whose next hops are right. Next hops are left out that Clique does not use: those with
an encapsulation, and those whose link is down. Where that leaves none, Clique uses the next route that is left, which follows from the list
of all routes. In the end whole tables are compared, and packets are sent.
"""

import ctypes
import errno
import fcntl
import ipaddress
import json
import os
import random
import socket
import struct
import subprocess
import sys
import time

SEED, STEPS, SOCKET, ROUTER, HOST1, HOST2 = sys.argv[1:]
PATIENCE = float(os.environ.get("PATIENCE", "2"))
SAMPLE = 6
ZEBRA = os.environ.get("ZEBRA")
PORTS = {"eth0": 1, "eth1": 2}
PORTS_ACROSS = {"eth0": 7, "eth1": 8}  # for IPv4 packets to IPv6 gateways
# What the configuration says of routes that lead nowhere: blackhole, unreachable, prohibit; none, and throw.
OF_TYPE = {6: "3", 7: "4", 8: "5"}
OF_ERROR = {errno.EINVAL: "3", errno.EHOSTUNREACH: "4", errno.EACCES: "5"}
NOWHERE = {"-1", "6"}


def inside(namespace, make):
    """What `make` makes in a network namespace."""
    libc = ctypes.CDLL(None, use_errno=True)
    here = os.open("/proc/self/ns/net", os.O_RDONLY)
    there = os.open(f"/run/netns/{namespace}", os.O_RDONLY)
    assert libc.setns(there, 0x40000000) == 0, "setns"
    try:
        return make()
    finally:
        assert libc.setns(here, 0x40000000) == 0, "setns"
        os.close(here)
        os.close(there)


# ---- The kernel.


def attributes(data):
    found = {}
    while len(data) >= 4:
        length, kind = struct.unpack_from("=HH", data)
        if length < 4:
            break
        found[kind & 0x3FFF] = data[4:length]
        data = data[(length + 3) & ~3 :]
    return found


def address(data):
    return socket.inet_ntop(socket.AF_INET if len(data) == 4 else socket.AF_INET6, data)


def gateway(found):
    """RTA_GATEWAY or RTA_VIA, or none."""
    data = found.get(5) or (found[18][2:] if 18 in found else b"")
    return address(data) if any(data) else None


def one_hop(found, interface, flags, weight):
    dead = flags & 0x11 != 0  # RTNH_F_DEAD, RTNH_F_LINKDOWN
    return (gateway(found), interface, weight, dead or 22 in found or 21 in found)


def hops_of(found, flags):
    """Next hops: gateway, interface, weight, and whether it cannot be used."""
    if 9 not in found:
        return [one_hop(found, struct.unpack("=I", found[4])[0], flags, 1)] if 4 in found else []
    hops, data = [], found[9]
    while len(data) >= 8:
        length, own, less_one, interface = struct.unpack_from("=HBBI", data)
        hops.append(one_hop(attributes(data[8:length]), interface, own, less_one + 1))
        data = data[(length + 3) & ~3 :]
    return hops


class Kernel:
    def __init__(self):
        self.socket = inside(ROUTER, lambda: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0))
        self.socket.bind((0, 0))
        self.plain = inside(ROUTER, lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
        self.names = inside(ROUTER, lambda: {index: name for index, name in socket.if_nameindex()})

    def is_up(self, name):
        """Whether an interface has a link (SIOCGIFFLAGS; IFF_RUNNING): the kernel does not say so of IPv4 routes over IPv6 gateways."""
        answer = fcntl.ioctl(self.plain, 0x8913, struct.pack("16s16x", name.encode()))
        return struct.unpack_from("=H", answer, 16)[0] & 0x40 != 0

    def ask(self, family, flags, body):
        """Routes as dictionaries; a number is an error."""
        rtm = struct.pack("=BBBBBBBBI", family, *body[0], body[1])
        message = struct.pack("=IHHII", 28 + len(body[2]), 26, 1 | flags, 1, 0) + rtm + body[2]
        self.socket.send(message)
        routes = []
        while True:
            data = self.socket.recv(1 << 17)
            while len(data) >= 16:
                length, kind, message_flags = struct.unpack_from("=IHH", data)
                body, data = data[16:length], data[(length + 3) & ~3 :]
                if kind == 2:
                    return -struct.unpack_from("=i", body)[0]
                if kind == 3:
                    return routes
                found = attributes(body[12:])
                own = struct.unpack_from("=I", body, 8)[0]
                routes.append({
                    "len": body[1], "tos": body[3], "type": body[7], "cloned": own & 0x200 != 0,
                    "to": found.get(1, bytes(4 if family == socket.AF_INET else 16)),
                    "table": struct.unpack("=I", found[15])[0], "metric": struct.unpack("=I", found.get(6, bytes(4)))[0],
                    "hops": hops_of(found, own),
                })
                if not message_flags & 2:
                    return routes

    def match(self, where):
        """The route that an address matches, or the number of an error."""
        family = socket.AF_INET6 if ":" in where else socket.AF_INET
        data = socket.inet_pton(family, where)
        body = ((8 * len(data), 0, 0, 0, 0, 0, 0), 0x3000, struct.pack("=HH", 4 + len(data), 1) + data)
        answer = self.ask(family, 0, body)
        return answer if isinstance(answer, int) else answer[0]

    def routes(self, family):
        """The main table's, in the order in which they count."""
        routes = self.ask(family, 0x300, ((0, 0, 0, 0, 0, 0, 0), 0, b""))
        routes = [r for r in routes if r["table"] == 254 and r["tos"] == 0 and not r["cloned"] and r["type"] in (1, 6, 7, 8, 9)]
        return sorted(routes, key=lambda r: (-r["len"], r["metric"]))

    def ways(self, route):
        """What Clique may say of a route; empty if it does not use it."""
        if route["type"] != 1:
            return {OF_TYPE.get(route["type"], "-1")}
        ways = set()
        for via, interface, weight, unusable in route["hops"]:
            across = via and ":" in via and len(route["to"]) == 4
            port = (PORTS_ACROSS if across else PORTS).get(self.names.get(interface))
            if port and not unusable and self.is_up(self.names[interface]):
                ways.add(f"{port} {via}" if via else str(port))
        return ways


def contains(route, where):
    bits = int.from_bytes(where, "big") ^ int.from_bytes(route["to"], "big")
    return bits >> (8 * len(where) - route["len"]) == 0


# ---- Clique.


class Clique:
    def __init__(self):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(SOCKET)
        self.file = self.socket.makefile("rb")
        self.file.readline()

    def read(self, handler):
        self.socket.sendall(f"READ {handler}\n".encode())
        status = self.file.readline().decode()
        while status[3:4] == "-":
            status = self.file.readline().decode()
        if not status.startswith("200"):
            return status.strip()
        length = int(self.file.readline().split()[1])
        return self.file.read(length).decode().strip()

    def lookup(self, where):
        return self.read(f"routes{'6' if ':' in where else ''}.lookup {where}")


# ---- Steps.

V4 = ["default", "172.16.0.0/12", "172.16.0.0/16", "172.16.1.0/24", "172.16.1.128/25", "172.16.1.7/32", "172.17.0.0/16", "172.17.2.0/23", "172.18.3.4/30"]
V6 = ["default", "2001:db8:a::/48", "2001:db8:a:1::/64", "2001:db8:a:1::7/128", "2001:db8:b::/47", "2001:db8:b:2::/64"]
ASKED4 = ["172.16.1.7", "172.16.1.200", "172.16.1.1", "172.16.9.9", "172.17.2.1", "172.17.3.255", "172.17.8.1", "172.18.3.5", "172.19.1.1", "198.51.100.1"]
ASKED6 = ["2001:db8:a::1", "2001:db8:a:1::1", "2001:db8:a:1::7", "2001:db8:b::1", "2001:db8:b:2::9", "2600::1"]


class Walk:
    def __init__(self, rng):
        self.rng = rng
        self.down, self.there = [], []

    def one(self, *choices):
        return self.rng.choice(choices)

    def gateway(self, v6):
        """Words: via ADDRESS dev INTERFACE, or dev INTERFACE."""
        n, host = self.rng.randrange(2), self.rng.choice([2, 2, 2, 7, 8, 9])
        if self.rng.random() < 0.1:
            return f"dev eth{n}"
        if v6:
            return self.one(f"via fe80::{host} dev eth{n}", f"via 2001:db8:{n + 1}::{host} dev eth{n}")
        return self.one(*[f"via 10.0.{n + 1}.{host} dev eth{n}"] * 6, f"via inet6 fe80::{host} dev eth{n}")

    def route(self):
        v6 = self.rng.random() < 0.5
        verb = self.one("add", "add", "append", "append", "prepend", "replace", "replace", "change", "del", "del", "del")
        words = [self.rng.choice(V6 if v6 else V4)]
        if self.rng.random() < 0.6:
            words.append(f"metric {self.one(5, 7, 1024)}")
        if not v6 and self.rng.random() < 0.1:
            words.append("tos 0x10")
        kind = self.rng.random()
        several = lambda: " ".join(f"nexthop {self.gateway(v6)} weight {self.one(1, 1, 2, 200)}" for _ in range(self.one(2, 2, 3)))
        if verb == "del" and kind < 0.5:
            pass
        elif kind < 0.5:
            words.append(self.gateway(v6))
        elif kind < 0.7:
            words.append(several())
        elif kind < 0.85:
            words.append(f"nhid {self.one(1, 2, 3, 4, 5, 6, 7, 8, 10, 11, 12)}")
        elif kind < 0.95:
            words.insert(0, self.one("blackhole", "unreachable", "prohibit", "throw"))
        else:
            words.insert(1, "encap ip6 id 7 dst 2001:db8::9" if v6 else "encap ip id 7 dst 10.9.9.9")
            words.append(self.gateway(v6))
        if self.rng.random() < 0.1:
            words.append(f"proto {self.one(188, 186)}")
        if self.rng.random() < 0.1 and kind < 0.5 and verb != "del":
            words.append(f"mtu {self.one(1300, 1400)}")
        return f"{'-6 ' if v6 else ''}route {verb} {' '.join(words)}"

    def next_hop(self):
        verb, number = self.one("add", "replace", "replace", "del"), self.rng.randrange(1, 13)
        if verb == "del":
            return f"nexthop del id {number}"
        if number < 8:
            v6 = number >= 5
            family = "-6 " if v6 else ""
            encapsulated = "encap ip id 7 dst 10.9.9.9 " if number == 3 else ""
            words = self.gateway(v6).replace("via inet6", "via")
            return f"{family}nexthop {verb} id {number} {encapsulated}{words}"
        if number == 8:
            return f"nexthop {verb} id 8 blackhole"
        of = self.rng.sample([5, 6, 7] if number == 12 else [1, 2, 3, 4], self.one(1, 2, 3))
        group = "/".join(f"{member},{self.one(1, 1, 3, 250)}" for member in of)
        kind = "type resilient buckets 8" if number == 9 else ""
        return f"nexthop {verb} id {number} group {group} {kind}"

    def link(self):
        """A link goes, or comes back: the router's own, or its carrier."""
        if self.down:
            return [self.down.pop()]
        n = self.rng.randrange(2)
        own, other = f"-n {ROUTER} link set eth{n}", f"-n {(HOST1, HOST2)[n]} link set h{n + 1}e"
        which = self.one(own, other)
        if self.rng.random() < 0.3:
            return [f"{which} down", f"{which} up"]
        self.down.append(f"{which} up")
        return [f"{which} down"]

    def step(self):
        """Lines of commands."""
        kind = self.rng.random()
        if kind < (0.3 if self.down else 0.04):
            return self.link()
        return [self.next_hop() if self.rng.random() < 0.25 else self.route() for _ in range(self.one(1, 1, 2, 5))]


class StaticWalk(Walk):
    """Steps of static routes of FRR; several for one prefix are one with several next hops."""

    def step(self):
        if self.rng.random() < (0.3 if self.down else 0.04):
            return self.link()
        return [self.static() for _ in range(self.one(1, 1, 2, 5))]

    def static(self):
        # Lines that say `no` to what is there, or the opposite of one that was: otherwise routes would only become more.
        if self.there and self.rng.random() < 0.45:
            return "vty no " + self.there.pop(self.rng.randrange(len(self.there)))
        v6 = self.rng.random() < 0.5
        prefix = self.rng.choice([prefix for prefix in (V6 if v6 else V4) if prefix != "default"])
        n, host = self.rng.randrange(2), self.rng.choice([2, 2, 7, 8, 9])
        if v6:
            to = self.one(f"fe80::{host} eth{n}", f"2001:db8:{n + 1}::{host}", f"2001:db8:{n + 1}::{host} eth{n}")
        else:
            to = self.one(f"10.0.{n + 1}.{host}", f"10.0.{n + 1}.{host} eth{n}")
        words = f"{'ipv6' if v6 else 'ip'} route {prefix} {self.one(to, to, to, to, to, f'eth{n}', 'blackhole', 'reject')}"
        words += self.one("", "", "", " 5")
        self.there.append(words)
        return "vty " + words


def run_vty(lines):
    commands = [word for line in ["configure terminal"] + lines for word in ("-c", line)]
    subprocess.run(["vtysh", "--vty_socket", ZEBRA, *commands], capture_output=True)


def run(lines):
    """Runs commands, of which many are refused: that is the kernel's affair."""
    static = [line.removeprefix("vty ") for line in lines if line.startswith("vty ")]
    if static:
        return run_vty(static)
    batch = []
    for line in lines + [None]:
        if line is None or line.startswith("-n "):
            if batch:
                subprocess.run(["ip", "-n", ROUTER, "-force", "-batch", "-"], input="\n".join(batch), text=True, capture_output=True)
            batch = []
            if line:
                subprocess.run(["ip", *line.split()], check=True)
        else:
            batch.append(line)


# ---- Comparing.


def expected(kernel, where):
    """What Clique may say of an address, and the kernel's answer."""
    route = kernel.match(where)
    if isinstance(route, int):
        if route in OF_ERROR:
            return {OF_ERROR[route]}, os.strerror(route)
        return left(kernel, where), os.strerror(route)
    ways = kernel.ways(route)
    if ":" in where and route["type"] == 1:
        # Of several routes with one metric the kernel takes turns, or the one whose neighbour answers; Clique has the first.
        alike = [r for r in kernel.routes(socket.AF_INET6) if (r["len"], r["metric"], r["to"]) == (route["len"], route["metric"], route["to"])]
        ways = set().union(*map(kernel.ways, alike))
    return ways or left(kernel, where), route


def left(kernel, where):
    """Without the routes that Clique does not use."""
    family = socket.AF_INET6 if ":" in where else socket.AF_INET
    data = socket.inet_pton(family, where)
    for route in kernel.routes(family):
        if contains(route, data):
            if route["type"] == 9:
                return NOWHERE
            ways = kernel.ways(route)
            if ways:
                return ways
    return NOWHERE


def is_zebras(kernel, where, said):
    """Whether it is what zebra has told: the kernel drops a next hop from a group when its link goes down, and does not get it back from
    zebra. Worse, it refuses a route then, and zebra does not tell of that."""
    family = "ipv6" if ":" in where else "ip"
    text = subprocess.run(["vtysh", "--vty_socket", ZEBRA, "-c", f"show {family} route json"], capture_output=True, text=True).stdout
    of = [ipaddress.ip_network(prefix) for prefix in json.loads(text)]
    best = max((net for net in of if ipaddress.ip_address(where) in net), key=lambda net: net.prefixlen, default=None)
    ways = set()
    for route in json.loads(text).get(str(best), []):
        if route.get("selected") and not route.get("installed"):
            return True
        for hop in route["nexthops"] if route.get("selected") else []:
            port = PORTS.get(hop.get("interfaceName"))
            if hop.get("fib") and port and kernel.is_up(hop["interfaceName"]):
                ways.add(f"{port} {hop['ip']}" if "ip" in hop else str(port))
    return said in ways


def agree(kernel, clique, where):
    """Nothing, or what is wrong."""
    wanted, route = expected(kernel, where)
    said = clique.lookup(where)
    if said in wanted or (wanted <= NOWHERE and said in NOWHERE):
        return None
    if ZEBRA and is_zebras(kernel, where, said):
        return None
    return f"{where}: Clique says {said}, and not {' or '.join(sorted(wanted))}; the kernel: {route}"


def until_agreed(kernel, clique, addresses, log):
    start = time.monotonic()
    for where in addresses:
        while wrong := agree(kernel, clique, where):
            if time.monotonic() - start > PATIENCE:
                print("\n".join(log[-100:]))
                for show in "route", "-6 route", "nexthop":
                    print(subprocess.run(f"ip -n {ROUTER} {show}", shell=True, capture_output=True, text=True).stdout)
                print(f"FAILED (seed {SEED}): {wrong}")
                sys.exit(1)
            time.sleep(0.01)
    return time.monotonic() - start


def tables_agree(kernel, clique):
    """Whole tables have the same ways with the same weights, as far as they are from the kernel."""
    for family, handler in (socket.AF_INET, "routes.table"), (socket.AF_INET6, "routes6.table"):
        wanted = {}
        for route in kernel.routes(family):
            ways = kernel.ways(route)
            wanted.setdefault(f"{address(route['to'])}/{route['len']}", ways) if ways else None
        table = {}
        for line in clique.read(handler).splitlines():
            words = line.split()
            if "/" in (words or [""])[0]:
                prefix = words.pop(0)
                table[prefix] = set()
            if len(words) >= 2 and prefix in table:
                table[prefix].add(words[1] if words[0] == "-" else f"{words[1]} {words[0]}")
        for prefix, ways in wanted.items():
            said = table.get(prefix, set())
            assert said <= ways or ways <= NOWHERE, f"{prefix}: Clique has {said}, and not {ways}"


def forwarding_agrees(kernel, clique):
    """Packets come out where the kernel would send them: those to hosts that are there."""
    real = {"10.0.1.2": 0, "2001:db8:1::2": 0, "10.0.2.2": 1, "2001:db8:2::2": 1}
    ears = []
    for namespace, name in (HOST1, "h1e"), (HOST2, "h2e"):
        ear = inside(namespace, lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3)))
        ear.bind((name, 0))
        ear.setblocking(False)
        ears.append(ear)
    tried = 0
    for number, where in enumerate(ASKED4 + ASKED6):
        route = kernel.match(where)
        ways = set() if isinstance(route, int) else {hop[0] for hop in route["hops"]}
        if isinstance(route, int) or route["type"] != 1 or not ways <= set(real) or any(hop[3] for hop in route["hops"]):
            continue
        if ZEBRA and clique.lookup(where) not in kernel.ways(route):
            continue  # the kernel has refused what zebra told Clique of
        family = socket.AF_INET6 if ":" in where else socket.AF_INET
        sender = inside(HOST1, lambda: socket.socket(family, socket.SOCK_DGRAM))
        mark = f"walk {SEED} {number}".encode()
        data, heard, end = socket.inet_pton(family, where), None, time.monotonic() + 10
        while heard is None and time.monotonic() < end:
            sender.sendto(mark, (where, 9))
            time.sleep(0.05)
            for port, ear in enumerate(ears):
                while True:
                    try:
                        frame, info = ear.recvfrom(2000)
                    except BlockingIOError:
                        break
                    if info[2] != 4 and data in frame and mark in frame and frame[:6] == bytes([2, 0, 0, 0, port + 1, 2]):
                        heard = port
        assert heard in {real[way] for way in ways}, f"{where}: came out at {heard}; the kernel: {route}; Clique: {clique.lookup(where)}"
        tried += 1
    return tried


def main():
    rng = random.Random(int(SEED))
    kernel, clique, walk, log = Kernel(), Clique(), (StaticWalk if ZEBRA else Walk)(rng), []
    slowest, late = 0.0, 0
    for step in range(int(STEPS)):
        lines = walk.step()
        log += [f"step {step}: ip {line}" for line in lines]
        run(lines)
        took = until_agreed(kernel, clique, rng.sample(ASKED4, SAMPLE // 2) + rng.sample(ASKED6, SAMPLE // 2), log)
        slowest, late = max(slowest, took), late + (took > 0.05)
    run(walk.down)
    until_agreed(kernel, clique, ASKED4 + ASKED6, log)
    if not ZEBRA:
        tables_agree(kernel, clique)
    # Routes to hosts that are there, so that there is something to send.
    if ZEBRA:
        run([f"vty no {line}" for line in walk.there])
        run(["vty ip route 172.16.1.0/24 10.0.2.2", "vty ip route 172.17.0.0/16 10.0.1.2", "vty ip route 172.17.0.0/16 10.0.2.2",
             "vty ipv6 route 2001:db8:a::/48 2001:db8:2::2"])
    run([f"-n {HOST1} route replace default via 10.0.1.1", f"-n {HOST1} route replace default via 2001:db8:1::1"] if ZEBRA else ["route replace 172.16.1.0/24 via 10.0.2.2 metric 1", "route replace 172.17.0.0/16 nexthop via 10.0.1.2 nexthop via 10.0.2.2",
         "-6 route replace 2001:db8:a::/48 via 2001:db8:2::2 metric 1", "route replace 172.18.3.4/30 via 10.0.2.2 metric 1",
         f"-n {HOST1} route replace default via 10.0.1.1", f"-n {HOST1} route replace default via 2001:db8:1::1"])
    until_agreed(kernel, clique, ASKED4 + ASKED6, log)
    tried = forwarding_agrees(kernel, clique)
    print(f"ok: {STEPS} steps from seed {SEED}; {late} agreements took more than 50 ms, the slowest {slowest * 1000:.0f} ms; packets to {tried} addresses")


main()
