#!/usr/bin/env bash
# Examples that have no test of their own, with real traffic: conf/vlan-router.click, conf/load-balancer.click, and conf/esp-gateway.click at both ends of
# a tunnel. About 15 s.
source "$(dirname "$0")/lib.sh"

quiet() { "$@" >/dev/null 2>&1; }
build

# What `clique new` writes for the interfaces of the router is right on that machine.
kernel_has_addresses
ip -n "$r" route add default via 10.0.2.2
for kind in router nat firewall; do
  in_r "$clique" new "$kind" -o "$work/$kind.click"
  says "a new $kind" "^0$" in_r bash -c "'$clique' check --here '$work/$kind.click' >/dev/null; echo \$?"
done
says "its interfaces and addresses" "IN eth0, .INSIDE 10.0.1.1/24, .OUT eth1, .OUTSIDE 10.0.2.1/24, .PROVIDER 10.0.2.2" cat "$work/nat.click"
for interface in eth0 eth1; do ip -n "$r" addr flush dev "$interface"; done
ip -n "$r" route flush default 2>/dev/null || true
in_r sysctl -qw net.ipv6.conf.all.disable_ipv6=1

for host in "$h1 h1e" "$h2 h2e"; do
  read -r name interface <<<"$host"
  ip -n "$name" addr flush dev "$interface" scope global
done
# Answers each connection with the address that it was made to, and the one it came from.
cat >"$work/serve.py" <<'PY'
import socketserver, sys
class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
class Handler(socketserver.BaseRequestHandler):
    def handle(self):
        self.request.sendall(f"{self.request.getsockname()[0]} asked by {self.client_address[0]}\n".encode())
Server(("", int(sys.argv[1])), Handler).serve_forever()
PY
asks() { timeout 20 python3 -c "import socket; s = socket.create_connection(('$1', $2), 10); print(s.makefile().read(), end='')" 2>&1; }
export -f asks
in_h2 python3 "$work/serve.py" 80 &
in_h2 python3 "$work/serve.py" 7000 &

# The hosts' end of the trunk tags by Clique, too, since many kernels have no VLAN devices: one interface in each VLAN, the second of which is h2's.
ip netns exec "$h1" "$clique" run --no-socket -e '
  FromDevice(h1e, SNIFFER false) -> tag :: Classifier(12/8100 14/000a%0fff, 12/8100 14/0014%0fff, -);
  to :: ToDevice(h1e); tag[2] -> Discard;
  tag[0] -> VLANDecap -> v10 :: KernelTap(10.0.1.2/24, DEVNAME v10, ETHER 02:00:00:00:00:0a) -> VLANEncap(VLAN_ID 10) -> to;
  tag[1] -> VLANDecap -> v20 :: KernelTap(10.0.2.2/24, DEVNAME v20, ETHER 02:00:00:00:00:14) -> VLANEncap(VLAN_ID 20) -> to;' >>"$work/log" 2>&1 &
tags=$!
wait_for "interfaces of the hosts in VLANs" quiet ip -n "$h1" link show v20
ip -n "$h1" link set v20 netns "$h2"
for host in "$h1 v10 1" "$h2 v20 2"; do
  read -r name interface number <<<"$host"
  ip -n "$name" addr replace "10.0.$number.2/24" dev "$interface"
  ip -n "$name" link set "$interface" up
  ip -n "$name" route replace default via "10.0.$number.1" dev "$interface"
done
launch -j2 -u "$work/socket" "$root/conf/vlan-router.click" IF=eth0 VLAN0=000a NET0=10.0.1.1/24 VLAN1=0014 NET1=10.0.2.1/24
wait_for "VLANs: a ping from one to the other" quiet in_h1 ping -q -c 1 -W 1 10.0.2.2
says "VLANs: a hop further" "ttl=63" in_h1 ping -c 1 -W 1 10.0.2.2
says "VLANs: the router answers" " 0% packet loss" in_h2 ping -c 3 -i 0.2 -W 1 10.0.2.1
says "VLANs: a connection" "10.0.2.2 asked by 10.0.1.2" in_h1 bash -c "asks 10.0.2.2 7000"
says "VLANs: an address that is nowhere" "Net Unreachable" in_h1 ping -c 1 -W 1 10.9.0.1
says "VLANs: an address that is too far" "Time to live exceeded" in_h1 ping -c 1 -W 1 -t 1 10.0.2.2
stop
ip netns pids "$h1" | xargs -r kill
wait "$tags" || true

ip -n "$h1" addr add 10.0.1.2/24 dev h1e
for number in 2 11 12 13; do ip -n "$h2" addr add "10.0.2.$number/24" dev h2e; done
ip -n "$h2" route replace default via 10.0.2.1
launch -j2 -u "$work/socket" "$root/conf/load-balancer.click" IF0=eth0 SERVICE=10.0.1.10/24 PROVIDER=10.0.1.2 \
  IF1=eth1 NET1=10.0.2.1/24 SERVER0=10.0.2.11 SERVER1=10.0.2.12 SERVER2=10.0.2.13
wait_for "load balancer: a connection" in_h1 bash -c "asks 10.0.1.10 7000 | grep -q asked"
for _ in 1 2 3 4 5 6; do in_h1 bash -c "asks 10.0.1.10 7000"; done >"$work/turns"
says "load balancer: the servers take turns" "^10.0.2.11 2 10.0.2.12 2 10.0.2.13 2 $" \
  bash -c "sed 's/ asked.*//' '$work/turns' | sort | uniq -c | awk '{ printf \"%s %s \", \$2, \$1 }'"
for _ in 1 2 3 4 5 6; do in_h1 bash -c "asks 10.0.1.10 80"; done >"$work/web"
says "load balancer: a client's web server stays" "^1 6$" bash -c "echo \$(sort -u '$work/web' | wc -l) \$(grep -c 'asked by 10.0.1.2' '$work/web')"
stop

# Both gateways on one machine, a cable between them: each is its processes' business alone.
ip -n "$r" link add w0 type veth peer name w1
ip -n "$r" link set w0 up
ip -n "$r" link set w1 up
for key in there back; do (umask 77; head -c 20 /dev/urandom | od -An -tx1 | tr -d ' \n' >"$work/$key.key"); done
for number in 11 12 13; do ip -n "$h2" addr del "10.0.2.$number/24" dev h2e; done
ip -n "$h1" route replace default via 10.0.1.1
ip netns exec "$r" "$clique" run --no-socket "$root/conf/esp-gateway.click" IN=eth1 INSIDE=10.0.2.1/24 OUT=w1 OUTSIDE=192.0.2.2/24 ROUTER=192.0.2.1 \
  PEER=192.0.2.1 REMOTE=10.0.1.0/24 SPI_OUT=0x1002 KEY_OUT="$work/back.key" SPI_IN=0x1001 KEY_IN="$work/there.key" >>"$work/log" 2>&1 &
launch -u "$work/socket" "$root/conf/esp-gateway.click" IN=eth0 INSIDE=10.0.1.1/24 OUT=w0 OUTSIDE=192.0.2.1/24 ROUTER=192.0.2.2 \
  PEER=192.0.2.2 REMOTE=10.0.2.0/24 SPI_OUT=0x1001 KEY_OUT="$work/there.key" SPI_IN=0x1002 KEY_IN="$work/back.key"
wait_for "ESP: a ping through the tunnel" quiet in_h1 ping -q -c 1 -W 1 10.0.2.2
says "ESP: a connection" "10.0.2.2 asked by 10.0.1.2" in_h1 bash -c "asks 10.0.2.2 7000"
says "ESP: the other gateway answers" " 0% packet loss" in_h1 ping -c 3 -i 0.2 -W 1 10.0.2.1
says "ESP: it answers in fragments" " 0% packet loss" in_h1 ping -c 3 -i 0.2 -W 1 -M dont -s 3000 10.0.2.1
says "ESP: the gateway in front answers in fragments" " 0% packet loss" in_h1 ping -c 3 -i 0.2 -W 1 -M dont -s 3000 10.0.1.1
says "ESP: what is too large is told" "mtu = 1438" in_h1 ping -c 1 -W 1 -M do -s 1450 10.0.2.2
says "ESP: in fragments it arrives" " 0% packet loss" in_h1 ping -c 3 -i 0.2 -W 1 -M dont -s 3000 10.0.2.2
in_h1 ping -q -c 1 -W 1 10.0.9.9 >/dev/null 2>&1 || true
says "ESP: nothing leaves in the clear" "^[1-9]" ctl read refused_out.count
stop
