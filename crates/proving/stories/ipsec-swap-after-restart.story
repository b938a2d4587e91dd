# Gateways that have begun anew remember from then on what has come, through swaps and upgrades, too: what was sent before they did may come again, and
# nothing else. ESPDecap is at one end, IPsec at the other.
family ipsec
seed 1
workers 2
vector 8
knob mischief 2
knob element 1
flow a 10.0.2.10 udp count 4 size 64 gap 1ms ttl 64 ports 2001 7
wait 1ms
swap east element 0
restart west workers 2
restart east workers 2
wait 200ms
flow a 10.0.2.10 udp count 20 size 64 gap 1ms ttl 64 ports 2002 7
flow b2 2001:db8:1::1 ping count 20 size 64 gap 1ms ttl 64 ports 2003 80
flow a2 10.0.2.11 udp count 5 size 64 gap 1ms ttl 2 ports 2004 80
wait 10ms
swap west tap 1
swap east exit 1
wait 200ms
flow a 10.0.2.10 udp count 20 size 64 gap 1ms ttl 64 ports 2005 7
wait 10ms
upgrade west
upgrade east
