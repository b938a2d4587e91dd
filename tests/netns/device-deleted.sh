#!/usr/bin/env bash
# Every element that owns an interface's descriptor outlives the interface: it says a line or two, uses no processor time, counts what it is given,
# and goes on when there is an interface of the name again. Skips without root, as the tests beside it do.
set -euo pipefail
program=${CLIQUE:-$(cd "$(dirname "$0")/../.." && pwd)/target/debug/clique}
skip() { echo "skipped: $*"; exit 0; }
[ "$(id -u)" = 0 ] || skip "network namespaces need root"
[ -x "$program" ] || skip "$program is not there; build it, or say CLIQUE=FILE"
[ -c /dev/net/tun ] || skip "there is no /dev/net/tun"
if [ "${1:-}" != inside ]; then
    unshare --net true 2>/dev/null || skip "this machine does not let this user make network namespaces"
    exec unshare --net bash "$0" inside
fi
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder"' EXIT
wrong() {
    echo "wrong: $*"
    tail -n 20 "$folder"/*.log
    exit 1
}
# All at once, each in a router of its own. Packets are made for those that send, 1000 a second.
names=(tap tun host taps fdl fdx tdl tdx)
made="RatedSource(RATE 1000, LIMIT -1) -> EtherEncap(0x88b5, 2:0:0:0:0:1, 2:0:0:0:0:2)"
declare -A text=(
    [tap]="$made -> t :: KernelTap(10.0.0.1/24, DEVNAME tap) -> Discard"
    [tun]="$made -> Strip(14) -> IPEncap(17, 10.0.1.2, 10.0.1.1) -> t :: KernelTun(10.0.1.1/24, DEVNAME tun) -> Discard"
    [host]="FromHost(host, 10.0.2.1/24) -> Discard; $made -> t :: ToHost(host)"
    [taps]="$made -> t :: KernelTap(10.0.3.1/24, DEVNAME taps) -> Discard"
    [fdl]="t :: FromDevice(fdl) -> Discard"
    [fdx]="t :: FromDevice(fdx, METHOD XDP) -> Discard"
    [tdl]="$made -> t :: ToDevice(tdl)"
    [tdx]="$made -> Queue -> t :: ToDevice(tdx, METHOD XDP)"
)
declare -A router
make() {
    case $1 in
    tap | taps | host) ip tuntap add dev "$1" mode tap ${2:+$2} ;;
    tun) ip tuntap add dev "$1" mode tun ;;
    *)
        ip link add "$1" type veth peer name "$1-peer"
        ip link set "$1" up
        ip link set "$1-peer" up
        ;;
    esac
}
for name in "${names[@]}"; do
    case $name in fd* | td*) make "$name" ;; esac
    workers=1
    [ "$name" = taps ] && workers=2
    "$program" run -j "$workers" -e "${text[$name]}" -u "$folder/$name" 2>"$folder/$name.log" &
    router[$name]=$!
done
ctl() { "$program" ctl -u "$folder/$1" read "$2"; }
for name in "${names[@]}"; do
    for _ in $(seq 50); do [ -S "$folder/$name" ] && break || sleep 0.1; done
    [ -S "$folder/$name" ] || wrong "$name does not start"
done
ticks() { awk '{print $14 + $15}' "/proc/${router[$1]}/stat"; }
lines() { wc -l <"$folder/$1.log"; }
declare -A said used
for name in tap fdl; do
    "$program" ctl -u "$folder/$name" watch --events link >"$folder/$name.events" &
done
sleep 1
for name in "${names[@]}"; do
    said[$name]=$(lines "$name")
    ip link delete "$name" || wrong "$name: there is no interface"
done
sleep 1
for name in "${names[@]}"; do used[$name]=$(ticks "$name"); done
sleep 2
for name in "${names[@]}"; do
    spent=$(($(ticks "$name") - ${used[$name]}))
    more=$(($(lines "$name") - ${said[$name]}))
    echo "$name: $more lines, $spent of 200 ticks"
    [ "$more" -ge 1 ] || wrong "$name does not say that its interface is gone"
    [ "$more" -le 3 ] || wrong "$name says $more lines after its interface was deleted"
    [ "$spent" -le 40 ] || wrong "$name uses $spent of 200 ticks after its interface was deleted"
    case $name in fd*) continue ;; esac
    ctl "$name" t.drop_reasons | grep -q "the interface is gone" || wrong "$name does not count what is lost: $(ctl "$name" t.drop_reasons)"
done
for name in "${names[@]}"; do make "$name" "$([ "$name" = taps ] && echo multi_queue)"; done
sleep 2
received() { awk -v name="$1:" '$1 == name {print $3}' /proc/net/dev; }
declare -A first
for name in tap tun host taps; do
    grep -q "$name is back" "$folder/$name.log" || wrong "$name does not see that its interface is back"
    ip link show dev "$name" | grep -q UP || wrong "$name is not brought up"
    first[$name]=$(received "$name")
done
sleep 0.5
for name in tap tun host taps; do
    [ "$(received "$name")" -gt $((first[$name] + 100)) ] || wrong "the kernel gets nothing of $name"
done
grep -q "tap: the interface is gone; waiting for it to come back" "$folder/tap.log" || wrong "tap does not say what is wrong"
[ "$(grep -c 'is gone' "$folder/taps.log")" = 1 ] || wrong "each worker says that the interface is gone"
for name in tap fdl; do
    events=$(tr '\n' ';' <"$folder/$name.events")
    # FromDevice finds it down first, as it is before it is deleted, or gone.
    [[ "$events" =~ ^link\ (down|gone)\ $name\ t\;(link\ gone\ $name\ t\;)?link\ back\ $name\ t\;$ ]] || wrong "$name: the events are: $events"
done
for name in "${names[@]}"; do kill -0 "${router[$name]}" || wrong "$name has ended"; done
echo "device-deleted: fine"
