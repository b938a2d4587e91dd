#!/usr/bin/env bash
# A random walk over `ip route`, `ip nexthop` and `ip link`: after each step the kernel and Clique send packets to the same next hops (see
# routes-walk.py). STEPS of them (default 3000, about a minute) from SEED (default 1). Everything is read again only if something was heard that did not fit,
# or a link changed: never because a minute is over.
source "$(dirname "$0")/lib.sh" python3

build
kernel_has_addresses
# Addresses stay while a link is down.
in_r sysctl -qw net.ipv6.conf.{all,eth0,eth1}.keep_addr_on_down=1
in_h1 sysctl -qw net.ipv6.conf.{all,h1e}.keep_addr_on_down=1
in_h2 sysctl -qw net.ipv6.conf.{all,h2e}.keep_addr_on_down=1
kernel_router
sed -i 's/^kernel :: KernelRoutes(/&RECONCILE 0, /' "$work/router.click"
start -j2 -u "$work/socket" "$work/router.click"
python3 "$root/tests/netns/routes-walk.py" "${SEED:-1}" "${STEPS:-3000}" "$work/socket" "$r" "$h1" "$h2" ||
  { ctl read kernel.stats; fail "seed ${SEED:-1}"; }
says "each message was understood" "^restarts 0" ctl read kernel.stats
stop
