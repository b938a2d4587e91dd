#!/usr/bin/env bash
# An interface that goes to another network namespace and returns under its old number is received from again, and no descriptor is left
# behind. Skips without root, as the tests beside it do.
set -euo pipefail
program=${CLIQUE:-$(cd "$(dirname "$0")/../.." && pwd)/target/debug/clique}
skip() { echo "skipped: $*"; exit 0; }
[ "$(id -u)" = 0 ] || skip "network namespaces need root"
[ -x "$program" ] || skip "$program is not there; build it, or say CLIQUE=FILE"
if [ "${1:-}" != inside ]; then
    unshare --net true 2>/dev/null || skip "this machine does not let this user make network namespaces"
    exec unshare --net bash "$0" inside
fi
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
ip link add d0 index 77 type veth peer name d1
ip link set d0 up
ip link set d1 up
"$program" run -e 'FromDevice(d0) -> c :: Counter -> Discard' -u "$folder/socket" 2>"$folder/log" &
router=$!
unshare --net sleep 100 &
elsewhere=$!
sleep 1
descriptors() { find "/proc/$router/fd" -type l | wc -l; }
count() { "$program" ctl -u "$folder/socket" read c.count; }
send() {
    python3 -c "
import socket
s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
s.bind(('d1', 0))
for _ in range(20): s.send(b'\xff' * 6 + b'\x02' * 6 + b'\x08\x00' + b'x' * 50)"
}
first=$(descriptors)
for _ in 1 2 3; do
    ip link set d0 netns "$elsewhere"
    sleep 1.5
    nsenter --net --target "$elsewhere" ip link set d0 netns $$
    ip link set d0 up
    sleep 3
    before=$(count)
    send
    sleep 0.5
    if [ $(($(count) - before)) -lt 20 ]; then
        cat "$folder/log"
        echo "wrong: FromDevice is deaf after the interface is back"
        exit 1
    fi
done
# The last command's connection may still be closing.
for _ in $(seq 50); do
    [ "$(descriptors)" -gt "$first" ] || break
    sleep 0.1
done
if [ "$(descriptors)" -gt "$first" ]; then
    echo "wrong: $(descriptors) descriptors, $first at first"
    exit 1
fi
echo "device-returns: fine"
