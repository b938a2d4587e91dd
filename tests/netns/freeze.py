#!/usr/bin/env python3
"""Stops the threads of a process that have a name, for some seconds: what a thread that hangs looks like to the others.

usage: freeze.py PID NAME SECONDS
"""

import ctypes
import os
import sys
import time

SEIZE, INTERRUPT, DETACH = 0x4206, 0x4207, 17

libc = ctypes.CDLL(None, use_errno=True)
libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]


def ptrace(request, thread):
    if libc.ptrace(request, thread, None, None) != 0:
        sys.exit(f"ptrace: {os.strerror(ctypes.get_errno())}")


pid, name, seconds = int(sys.argv[1]), sys.argv[2], float(sys.argv[3])
threads = [int(t) for t in os.listdir(f"/proc/{pid}/task") if open(f"/proc/{pid}/task/{t}/comm").read().strip() == name]
if not threads:
    sys.exit(f"process {pid} has no thread {name}")
for thread in threads:
    ptrace(SEIZE, thread)
    ptrace(INTERRUPT, thread)
    os.waitpid(thread, 0x40000000)  # __WALL
time.sleep(seconds)
stopped = [open(f"/proc/{pid}/task/{t}/status").read() for t in threads]
if not all("t (tracing stop)" in status for status in stopped):
    sys.exit("a thread went on")
for thread in threads:
    ptrace(DETACH, thread)
print(f"{len(threads)} of {name} stood still for {seconds:g} s")
