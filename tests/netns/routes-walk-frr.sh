#!/usr/bin/env bash
# The random walk of routes-walk.sh over static routes of FRR: zebra tells the kernel of them, and Clique by its FPM interface; both send
# packets to the same next hops. STEPS of them (default 300, about a minute) from SEED (default 1).
source "$(dirname "$0")/lib.sh" python3
source "$(dirname "$0")/frr-lib.sh"

build
kernel_has_addresses
in_r sysctl -qw net.ipv6.conf.{all,eth0,eth1}.keep_addr_on_down=1
in_h1 sysctl -qw net.ipv6.conf.{all,h1e}.keep_addr_on_down=1
in_h2 sysctl -qw net.ipv6.conf.{all,h2e}.keep_addr_on_down=1
frr_in "$r"
echo "fpm address 127.0.0.1" >"$work/$r/zebra.conf"
daemon "$r" zebra -M dplane_fpm_nl
wait_for "zebra runs" test -S "$work/$r/zserv"
daemon "$r" staticd
start -j2 -u "$work/socket" "$root/conf/frr-router.click" HOLD=3
wait_for "zebra is connected" is fpm.connected true
wait_for "staticd runs" test -S "$work/$r/staticd.vty"
ZEBRA=$work/$r PATIENCE=20 \
  python3 "$root/tests/netns/routes-walk.py" "${SEED:-1}" "${STEPS:-300}" "$work/socket" "$r" "$h1" "$h2" ||
  { ctl read fpm.stats; vty "$r" "show ip route" "show ipv6 route" "show nexthop-group rib"; fail "seed ${SEED:-1}"; }
says "each message was understood" "^restarts 0" ctl read fpm.stats
stop
