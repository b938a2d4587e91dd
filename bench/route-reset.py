"""Times a session reset in the kernel and in Clique. Started by route-reset.sh in the router's namespace, which says the rest in its environment."""

import json
import os
import platform
import shlex
import socket
import subprocess
import sys
import time

LONGEST = 600  # seconds that anything may take


class Control:
    """Clique's control socket."""

    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(path)
        self.file = self.socket.makefile("rb")
        self.file.readline()

    def read(self, handler):
        self.socket.sendall(f"READ {handler}\r\n".encode())
        status = self.file.readline().decode()
        while status[3:4] == "-":
            status = self.file.readline().decode()
        if not status.startswith("200"):
            raise RuntimeError(f"{handler}: {status}")
        length = int(self.file.readline().split()[1])
        return self.file.read(length).decode()


def kernel_routes():
    """Prefixes of the main table."""
    in_main = False
    with open("/proc/net/fib_triestat") as file:
        for line in file:
            in_main = in_main or line.startswith("Main")
            if in_main and line.strip().startswith("Prefixes:"):
                return int(line.split()[1])
    return 0


def resident(pid):
    with open(f"/proc/{pid}/status") as file:
        return next(int(line.split()[1]) << 10 for line in file if line.startswith("VmRSS:"))


def unreclaimable():
    with open("/proc/meminfo") as file:
        return next(int(line.split()[1]) << 10 for line in file if line.startswith("SUnreclaim:"))


def memory():
    pids = {name: os.environ[f"{name.upper()}_PID"] for name in ("clique", "zebra", "bgpd")}
    return {**{name: resident(pid) for name, pid in pids.items()}, "kernel_slabs": unreclaimable()}


def vty(*commands):
    words = shlex.split(os.environ["VTY"])
    for command in commands:
        words += ["-c", command]
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL)


def watch(counts, done):
    """Seconds until each count is as `done` says, and until each has first moved."""
    start, before = time.monotonic(), {name: count() for name, count in counts.items()}
    first, last = {}, {}
    while len(last) < len(counts):
        for name, count in counts.items():
            if name in last:
                continue
            now = count()
            if name not in first and now != before[name]:
                first[name] = time.monotonic() - start
            if done(name, now):
                last[name] = time.monotonic() - start
        if time.monotonic() - start > LONGEST:
            sys.exit(f"not after {LONGEST} s: {({name: count() for name, count in counts.items()})}")
        time.sleep(0.01)
    return first, last


def main():
    routes, rounds = int(os.environ["ROUTES"]), int(os.environ["ROUNDS"])
    control = Control(os.environ["SOCKET"])
    counts = {"kernel": kernel_routes, "clique": lambda: int(control.read("routes.length"))}
    base = {name: count() for name, count in counts.items()}
    is_full = lambda name, now: now >= base[name] + routes
    is_empty = lambda name, now: now <= base[name]
    empty = memory()
    bird = subprocess.Popen(shlex.split(os.environ["BIRD"]))
    time.sleep(1)
    if bird.poll() is not None:
        sys.exit("bird does not start")
    watch(counts, is_full)
    time.sleep(5)  # bgpd and zebra come to rest
    full = memory()
    found = []
    for number in range(rounds):
        vty("configure terminal", "router bgp 65001", "neighbor 10.0.2.2 shutdown")
        _, gone = watch(counts, is_empty)
        time.sleep(2)
        vty("configure terminal", "router bgp 65001", "no neighbor 10.0.2.2 shutdown")
        first, last = watch(counts, is_full)
        time.sleep(2)
        found.append({
            name: {
                "withdrawn_seconds": round(gone[name], 3),
                "first_route_seconds": round(first[name], 3),
                "last_route_seconds": round(last[name], 3),
                "routes_a_second": round(routes / (last[name] - first[name])) if last[name] > first[name] else None,
            }
            for name in counts
        })
        print(f"round {number + 1}: {found[-1]}", file=sys.stderr)
    processor = next((line.split(": ")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")), "unknown")
    print(json.dumps({
        "machine": {"processor": processor, "cores": os.cpu_count(), "kernel": platform.release(), "commit": os.environ["COMMIT"]},
        "routes": routes,
        "rounds": found,
        "memory_before_bytes": empty,
        "memory_full_bytes": full,
        "bytes_a_route": {name: round((full[name] - empty[name]) / routes, 1) for name in empty},
    }, indent=2))


main()
