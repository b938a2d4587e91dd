#!/usr/bin/env python3
"""A TCP connection that is used again and again, and the server that answers it.

usage: echo.py serve PORT              answers with what it receives, and prints who connects
       echo.py hold ADDRESS PORT FILE  sends a line each 20 ms until FILE is there; prints how many came back, and how many did not in a second
"""

import os
import socket
import sys
import threading
import time


def answer(connection):
    with connection:
        while data := connection.recv(4096):
            connection.sendall(data)


def serve(port):
    with socket.create_server(("::", int(port)), family=socket.AF_INET6, dualstack_ipv6=True) as server:
        while True:
            connection, (address, *_) = server.accept()
            print(address, flush=True)
            threading.Thread(target=answer, args=(connection,), daemon=True).start()


def hold(address, port, until):
    connection = socket.create_connection((address, int(port)), 3)
    connection.settimeout(1)
    good = bad = 0
    while not os.path.exists(until):
        try:
            connection.sendall(b"x" * 100)
            good += len(connection.recv(100)) == 100
        except OSError:
            bad += 1
        time.sleep(0.02)
    print(f"{good} good, {bad} bad")


{"serve": serve, "hold": hold}[sys.argv[1]](*sys.argv[2:])
