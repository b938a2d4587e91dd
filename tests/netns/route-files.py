#!/usr/bin/env python3
"""Random routes in a network namespace, as `ip route` prints them and as `clique routes` reads that.

usage: route-files.py CLIQUE SEED STEPS, in a namespace of its own

All forms of the output say the same routes. For addresses within and beside the routes, `clique routes lookup` says what `ip route get` says: the
gateway and the interface, or one of several, or that there is no way. An address at which the two must differ is in a route that `clique` names
as one that it cannot use.
"""

import ipaddress
import json
import random
import re
import subprocess
import sys

CLIQUE, SEED, STEPS = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
rng = random.Random(SEED)
LINKS = ["eth0", "eth1", "eth2"]
FORMS = ["", "-d", "-o", "-o -d", "-j", "-j -d", "-j -p"]


def sh(command, check=True):
    done = subprocess.run(["ip", *command.split()], capture_output=True, text=True)
    if check and done.returncode:
        sys.exit(f"ip {command}: {done.stderr}")
    return done


def clique(*arguments, text):
    done = subprocess.run([CLIQUE, "routes", *arguments], input=text, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"clique routes {arguments}: {done.stderr}")
    return done.stdout


def links():
    sh("link set lo up")
    for number, name in enumerate(LINKS):
        sh(f"link add {name} type veth peer name p{number}")
        for end in (name, f"p{number}"):
            sh(f"link set {end} up")
        # Without a carrier, next hops of the last link are dead, those of the others are said to be down and used.
        for family in ("ipv4", "ipv6"):
            with open(f"/proc/sys/net/{family}/conf/{name}/ignore_routes_with_linkdown", "w") as file:
                file.write("1" if number == 2 else "0")
        sh(f"addr add 10.9.{number}.1/24 dev {name}")
        sh(f"addr add 2001:db8:9:{number}::1/64 dev {name} nodad")
        for last in range(1, 5):
            four, six = (f"10.9.{number}.{last + 1}", f"fe80::{number + 1}:{last}")
            sh(f"nexthop add id {100 + 10 * number + last} via {four} dev {name}")
            sh(f"nexthop add id {200 + 10 * number + last} via {six} dev {name}")
    sh("nexthop add id 50 blackhole")
    for identity, members in ((60, "101,3/111,250"), (61, "102/112/122,7"), (70, "201,2/211,9")):
        sh(f"nexthop add id {identity} group {members}")
    sh("nexthop add id 62 group 103/113 type resilient buckets 16", check=False)


def prefix(v6):
    """Few enough first numbers that prefixes lie in one another."""
    if v6:
        address = ipaddress.IPv6Address((0x20010DB8 << 96) | rng.choice([1, 2, 3]) << 80 | rng.randrange(4) << 64 | rng.randrange(3))
        return ipaddress.IPv6Network((address, rng.choice([0, 32, 40, 48, 56, 64, 96, 127, 128])), strict=False)
    address = ipaddress.IPv4Address(rng.choice([20, 21]) << 24 | rng.randrange(4) << 16 | rng.randrange(4) << 8 | rng.randrange(3))
    return ipaddress.IPv4Network((address, rng.choice([0, 7, 8, 12, 16, 20, 24, 30, 32])), strict=False)


def hop(v6):
    number = rng.randrange(len(LINKS))
    if v6:
        return rng.choice([f"via fe80::{number + 1}:{rng.randrange(1, 5)} dev {LINKS[number]}", f"via 2001:db8:9:{number}::{rng.randrange(2, 9)}"])
    return rng.choice([f"via 10.9.{number}.{rng.randrange(2, 9)}", f"via inet6 fe80::{number + 1}:{rng.randrange(1, 5)} dev {LINKS[number]}",
                       f"via 10.77.0.{rng.randrange(9)} dev {LINKS[number]} onlink"])


def several(v6):
    # `ip` takes an inet6 gateway only with an interface, and weights up to 256.
    return " ".join(f"nexthop {hop(v6)} weight {rng.randrange(1, 257)}" for _ in range(rng.randrange(2, 5)))


def route(v6):
    """The words behind `ip route add`, after the metric."""
    options = ["", "", "proto bgp", "proto static", f"mtu {rng.randrange(1280, 1500)}", "mtu lock 1400 advmss 1200 window 700",
               "rtt 300ms rttvar 20ms", "initcwnd 9 quickack 1 hoplimit 7", "congctl cubic", "proto 77 features ecn"]
    options += ["pref high"] * 2 if v6 else ["realms 3/7", "scope link", "src 10.9.0.1"]
    option = rng.choice(options)
    # A route of narrower scope has no gateway.
    if "scope" in option:
        return "", f"dev {rng.choice(LINKS)} {option}"
    groups = [70] if v6 else [60, 61, 62]
    base = 200 if v6 else 100
    return rng.choice([
        ("", f"{option} {hop(v6)}"),
        ("", f"{option} {hop(v6)}"),
        ("", f"{option} {several(v6)}"),
        ("", f"{option} nhid {base + 10 * rng.randrange(3) + rng.randrange(1, 5)}"),
        ("", f"{option} nhid {rng.choice(groups)}"),
        ("", f"{option} dev {rng.choice(LINKS)}"),
        ("", "nhid 50"),
        (rng.choice(["blackhole", "unreachable", "prohibit", "throw"]), ""),
        # What `clique` cannot use.
        ("", f"tos 0x{rng.choice([4, 8, 10])} {hop(v6)}" if not v6 else f"from 2001:db8:5::/48 {hop(v6)}"),
        ("", f"encap ip id 7 dst 10.9.0.9 {hop(False)}" if not v6 else f"encap seg6 mode encap segs fc00::1 {hop(True)}"),
        ("", f"{option} {hop(v6)} table 100"),
    ])


def change():
    v6 = rng.random() < 0.5
    family = "-6 route" if v6 else "route"
    kind, rest = route(v6)
    verb = rng.choice(["add", "add", "add", "append", "prepend", "replace", "del"])
    metric = rng.choice(["", "", f"metric {rng.choice([5, 50, 500])}"])
    net = prefix(v6)
    # Addresses in such a route are not compared.
    if ("encap" in rest or "from" in rest) and net.prefixlen < (56 if v6 else 20):
        return
    # Many fail: a route is there already, or has words that do not go together.
    sh(f"{family} {verb} {kind} {net} {metric} {'' if verb == 'del' else rest}", check=False)
    if rng.random() < 0.03:
        sh(f"link set p{rng.randrange(len(LINKS))} {rng.choice(['up', 'up', 'down'])}")


def printed(form, table=""):
    """Both families, one after the other."""
    return "".join(sh(f"{form} {family} route show {table}").stdout for family in ("-4", "-6"))


def groups(text):
    """The routes of a text, each with its further lines."""
    found = []
    for line in text.splitlines():
        if line.startswith("\t"):
            found[-1] += "\n" + line
        else:
            found.append(line)
    return found


def is_unusable(route):
    """Whether `clique` must say that it cannot use a route of the main table."""
    if re.match("throw ", route) or re.search(r"\b(tos|encap|from) ", route):
        return True
    hops = [line for line in route.splitlines() if re.search(r"\b(via|dev) ", line)]
    return not re.match("(blackhole|unreachable|prohibit) ", route) and all(" dead" in hop for hop in hops)


def reading(text):
    """What is read, and how much cannot be used."""
    report = json.loads(clique("import", "-", "--json", text=text))
    lines = clique("import", "-", text=text)
    # What `import` writes reads back the same.
    if clique("import", "-", text=lines) != lines:
        sys.exit(f"seed {SEED}: read back otherwise:\n{lines}")
    return lines, report["faults"]


def wanted(address):
    """Where the kernel sends packets to an address: gateway and interface, or None."""
    done = sh(f"-j route get {address}", check=False)
    if done.returncode or not done.stdout:
        return None
    found = json.loads(done.stdout)[0]
    if found.get("type", "unicast") in ("unreachable", "blackhole", "prohibit", "throw"):
        return None
    return found.get("gateway") or found.get("via", {}).get("host"), found["dev"]


def net_of(route):
    words = route.split()
    if words[0] == "default":
        return ipaddress.ip_network("::/0" if "pref " in route else "0.0.0.0/0")
    try:
        return ipaddress.ip_network(words[0], strict=False)
    except ValueError:
        return net_of(" ".join(words[1:]))


def samples(routes):
    """Addresses at the ends of routes and beside them, where the namespace has none itself."""
    found = set()
    for net in map(net_of, routes):
        first, last, kind = int(net[0]), int(net[-1]), type(net[0])
        found |= {kind(n) for n in (first, last, max(first - 1, 0), min(last + 1, 2**net.max_prefixlen - 1))}
    ours = [ipaddress.ip_network("20.0.0.0/7"), ipaddress.ip_network("2001:db8::/46")]
    return sorted((a for a in found if any(a.version == net.version and a in net for net in ours)), key=lambda a: (a.version, int(a)))


def compare(step):
    def fail(why, *texts):
        sys.exit("\n".join([f"step {step} of seed {SEED}: {why}", *texts]))

    # A link's state becomes that of its next hops a moment later.
    while True:
        texts = {form: printed(form) for form in FORMS}
        everything = printed("", "table all")
        if printed("") == texts[""]:
            break
    routes = groups(texts[""])
    bad = sum(map(is_unusable, routes))
    first = reading(texts[""])
    if first[1] != bad:
        fail(f"{bad} routes cannot be used, clique says {first[1]}", texts[""])
    for form, text in texts.items():
        if reading(text) != first:
            fail(f"'ip {form} route' is read otherwise", texts[""], text, str(first), str(reading(text)))
    others = sum(" table 100" in route for route in groups(everything))
    if reading(everything) != (first[0], bad + others):
        fail("'ip route show table all' is read otherwise", everything)
    # A route that encapsulates is not used, and the kernel says its gateway. One for some sources hides, in the kernel, that for all of the same
    # prefix. The others agree.
    away = [net_of(route) for route in routes if " encap " in route or " from " in route]
    addresses = [a for a in samples(routes) if not any(a.version == net.version and a in net for net in away)]
    answers = json.loads(clique("lookup", "-", "--json", *map(str, addresses), text=texts[""])) if addresses else []
    for address, entry in zip(addresses, answers):
        way, ways = wanted(address), {(hop["gateway"], hop["interface"]) for hop in entry["next_hops"] or []}
        if way not in ways if way else ways:
            fail(f"{address}: ip route get says {way}, clique {entry}", texts[""])
    return len(addresses), len(routes)


def main():
    links()
    checked, largest = 0, 0
    for step in range(1, STEPS + 1):
        change()
        if step % 20 == 0 or step == STEPS:
            addresses, routes = compare(step)
            checked, largest = checked + addresses, max(largest, routes)
    if not checked:
        sys.exit("nothing was compared")
    print(f"{STEPS} steps of seed {SEED}: {checked} addresses, up to {largest} routes, {len(FORMS)} forms of each table: all the same")


main()
