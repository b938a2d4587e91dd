"""What bench/rb4.sh measures."""

import argparse
import json
import os
import pathlib
import platform
import subprocess
import sys
import time

parser = argparse.ArgumentParser()
for name in ("clique", "bench", "name", "alone", "commit", "work"):
    parser.add_argument("--" + name, required=True)
parser.add_argument("--seconds", type=float, default=1.0)
parser.add_argument("--json", action="store_true")
parser.add_argument("--tiny", action="store_true")
args = parser.parse_args()
seconds = 0.2 if args.tiny else args.seconds
CLOSE = 0.5 if args.tiny else 0.04
ORDERS = ["flowlet", "none", "strict"]
# Nodes of such a cluster have external ports of 1 Gbit/s. What one pair sends with full frames is more than goes straight, a quarter of it.
FULL, LINE = "1518 bytes", 1e9
PAIR = [(0, 2)]
ALL = [(host, (host + 1) % 4) for host in range(4)]


def run(*words):
    done = subprocess.run(words, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(words)}: {done.stderr.strip()}")
    return done.stdout


def host(number):
    return f"{args.name}-h{number}"


def spent(pid):
    """Nanoseconds of processor time of a process, all its threads."""
    tasks = pathlib.Path(f"/proc/{pid}/task").glob("*/schedstat")
    return sum(int(task.read_text().split()[0]) for task in tasks)


def traffic(flows, rate, mix, length):
    """Hosts send `rate` packets a second together for a while: what became of them."""

    def start(number, *words):
        command = ["ip", "netns", "exec", host(number), args.bench, "cluster-host", *map(str, words)]
        return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)

    receivers = [start(to, "--receive", "port", "--seconds", length + 1) for _, to in flows]
    time.sleep(0.3)
    size = mix.split()[0].lower()
    each = rate / len(flows)
    senders = [
        start(at, "--send", "port", "--host", at, "--to", to, "--rate", each, "--seconds", length, "--size", size)
        for at, to in flows
    ]
    sent, came = ([json.loads(one.communicate()[0]) for one in some] for some in (senders, receivers))
    packets = sum(one["packets"] for one in sent)
    return {
        "sent": packets,
        "lost": packets - sum(one["packets"] for one in came),
        "offered": sum(one["packets"] * 1e9 / one["ns"] for one in sent),
        "came": came,
    }


def passes(flows, rate, mix):
    found = traffic(flows, rate, mix, seconds)
    # Who sends no faster has not shown that more would pass.
    return found["lost"] == 0 and found["offered"] > rate * (1 - CLOSE / 2)


def loss_free(flows, mix):
    """The highest rate at which nothing is lost, twice."""
    low, high, rate = 0, None, 20_000
    while high is None or high - low > CLOSE * high:
        if passes(flows, rate, mix):
            low = rate
        else:
            high = rate
        rate = low * 1.5 if high is None else (low + high) / 2
        if rate < 200 or rate > 1e8:
            sys.exit(f"no loss-free rate: {rate}")
    while not passes(flows, low, mix):
        low *= 1 - CLOSE
        if low < 200:
            sys.exit("something is lost at every rate")
    return low


def settle(pairs):
    for at, to in pairs:
        for _ in range(20):
            ping = ["ip", "netns", "exec", host(at), "ping", "-q", "-c", "1", "-W", "1", f"10.0.{to}.2"]
            if subprocess.run(ping, capture_output=True).returncode == 0:
                break
        else:
            sys.exit(f"host {to} does not answer")


def swallow(numbers):
    """What hosts get from outside their kernels throw away."""
    for number in numbers:
        run("ip", "-n", host(number), "route", "replace", "blackhole", "198.18.0.0/15")


def rates(rows, what, flows, pids):
    """Loss-free rate and latency, and what the routers on the way take."""
    for mix in ("64 bytes", "IMIX"):
        rate = loss_free(flows, mix)
        row = {"name": f"{what}, {mix}", "loss_free_per_s": round(rate), "latency_us": {}}
        for load in (10, 50, 90):
            before = [spent(pid) for pid in pids]
            found = traffic(flows, rate * load / 100, mix, 2 * seconds)
            if load == 90:
                took = [spent(pid) - earlier for pid, earlier in zip(pids, before)]
                row["node_ns"] = [round(ns / found["sent"]) for ns in took]
            came = found["came"]
            # Of several receivers the slowest.
            row["latency_us"][load] = {p: max(one[p + "_us"] for one in came) for p in ("p50", "p90", "p99", "max")}
            row["latency_us"][load]["lost"] = found["lost"]
        rows.append(row)


class Cluster:
    def __init__(self, order):
        self.log = open(f"{args.work}/up-{order}", "w+")
        words = [args.clique, "cluster", "up", "--local", "4", "--name", args.name, "--order", order, "--json"]
        self.process = subprocess.Popen(words, stdout=self.log, stderr=subprocess.STDOUT)
        for _ in range(600):
            self.log.seek(0)
            if self.log.read().rstrip().endswith("}") or self.process.poll() is not None:
                break
            time.sleep(0.1)
        if self.process.poll() is not None:
            self.log.seek(0)
            sys.exit(f"the cluster does not come up: {self.log.read()}")
        swallow(range(4))
        settle(ALL + PAIR)

    def pids(self, *numbers):
        return [int(pathlib.Path(f"/run/clique-cluster-{args.name}/n{number}.pid").read_text()) for number in numbers]

    def read(self, handler):
        socket = f"/run/clique-cluster-{args.name}/n0.sock"
        return int(run(args.clique, "ctl", "-u", socket, "read", handler).strip())

    def down(self):
        run(args.clique, "cluster", "down", "--name", args.name)
        self.process.wait()


class Alone:
    def __init__(self):
        router = f"{args.name}-alone"
        run("ip", "netns", "add", router)
        for number, end in ((0, "ext"), (2, "other")):
            run("ip", "netns", "add", host(number))
            run("ip", "link", "add", "port", "netns", host(number), "address", f"02:00:00:00:0{number}:02", "type", "veth",
                "peer", "name", end, "netns", router, "address", f"02:00:00:00:0{number}:01")
            run("ip", "netns", "exec", host(number), "ethtool", "-K", "port", "tso", "off", "gso", "off", "tx", "off")
            run("ip", "-n", router, "link", "set", end, "up")
            run("ip", "-n", host(number), "link", "set", "port", "up")
            run("ip", "-n", host(number), "addr", "add", f"10.0.{number}.2/24", "dev", "port")
            run("ip", "-n", host(number), "route", "add", "default", "via", f"10.0.{number}.1")
        words = ["ip", "netns", "exec", router, args.clique, "run", args.alone]
        self.process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        swallow((0, 2))
        settle(PAIR)

    def down(self):
        self.process.terminate()
        self.process.wait()
        for what in (host(0), host(2), f"{args.name}-alone"):
            run("ip", "netns", "del", what)


rows, orders = [], []
alone = Alone()
rates(rows, "one router alone", PAIR, [alone.process.pid])
alone.down()
for order in ORDERS:
    cluster = Cluster(order)
    if order == "flowlet":
        rates(rows, "four nodes, one pair of hosts", PAIR, cluster.pids(0, 2))
        rates(rows, "four nodes, all hosts", ALL, [])
        # The same for all orders.
        rate = min(0.9 * loss_free(PAIR, FULL), 0.85 * LINE / 8 / 1518)
    before = [cluster.read(f"vlb.{count}") for count in ("direct", "balanced")]
    found = traffic(PAIR, rate, FULL, 4 * seconds)
    direct, balanced = [cluster.read(f"vlb.{count}") - was for count, was in zip(("direct", "balanced"), before)]
    came = found["came"][0]
    orders.append({
        "order": order, "packets_per_s": round(found["offered"]), "sent": found["sent"], "lost": found["lost"],
        "direct": direct, "balanced": balanced, "reordered_percent": came["percent"], "late": came["late"],
        "p50_us": came["p50_us"], "p99_us": came["p99_us"],
    })
    cluster.down()

cores = len(os.sched_getaffinity(0))
processor = next((line.split(": ")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")), "unknown")
label = f"veth, {cores} cores"
if args.json:
    machine = {"processor": processor, "cores": cores, "kernel": platform.release(), "commit": args.commit}
    published = {"reordered_percent": {"flowlet": 0.15, "none": 5.5}, "latency_us": [47.6, 66.4], "gbps": {"64 bytes": 12, "trace": 35}}
    print(json.dumps({"machine": machine, "label": label, "rates": rows, "orders": orders, "published": published}, indent=2))
else:
    print(f"RB4 by namespaces ({label}: hosts, nodes and cables share them); {processor}, commit {args.commit}")
    print(f"{'':<40}{'loss-free/s':>12}{'10 %: p50, p99 us':>22}{'50 %':>18}{'90 %':>18}  ns of nodes on the way, 90 %")
    for row in rows:
        times = [f"{of['p50']:.0f}, {of['p99']:.0f}" for of in row["latency_us"].values()]
        nodes = ", ".join(map(str, row.get("node_ns", [])))
        print(f"{row['name']:<40}{row['loss_free_per_s']:>12}{times[0]:>22}{times[1]:>18}{times[2]:>18}  {nodes}")
    print(f"{'one pair, 1518 bytes':<40}{'packets/s':>12}{'balanced':>10}{'reordered %':>14}{'lost':>8}{'p50, p99 us':>18}")
    for row in orders:
        share = 100 * row["balanced"] / max(row["direct"] + row["balanced"], 1)
        times = f"{row['p50_us']:.0f}, {row['p99_us']:.0f}"
        print(f"{'ORDER ' + row['order'].upper():<40}{row['packets_per_s']:>12}{share:>8.0f} %{row['reordered_percent']:>14.3f}"
              f"{row['lost']:>8}{times:>18}")
    print("the paper: 12 Gbit/s of 64 bytes and 35 of a trace by four servers; 0.15 % reordered by flowlet, 5.5 % without; 47.6 to 66.4 us")
