# New flows are spread by the weights of the next hops. A next hop that comes takes flows from others and moves no other one; when it goes, only its
# own move.
family paths
seed 1
workers 4
vector 32
write r routes.set 10.9.0.0/16 nexthop 10.0.2.10 2 3 nexthop 10.0.2.11 2 1
write r routes6.set 2001:db8:9::/48 nexthop 2001:db8:2::a 2 3 nexthop 2001:db8:2::b 2 1
wait 1ms
flow a 10.9.0.5 udp count 300 size 16 gap 10us ttl 64 ports 20000 80 spread
flow a2 2001:db8:9::5 udp count 300 size 16 gap 10us ttl 64 ports 20000 80 spread
wait 10ms
swap r tap 2
write r routes.set 10.9.0.0/16 nexthop 10.0.2.10 2 3 nexthop 10.0.2.11 2 1 nexthop 10.0.2.12 2 2
write r routes6.set 2001:db8:9::/48 nexthop 2001:db8:2::a 2 3 nexthop 2001:db8:2::b 2 1 nexthop 2001:db8:2::c 2 2
wait 1ms
flow a 10.9.0.5 udp count 300 size 16 gap 10us ttl 64 ports 20000 80 spread
flow a2 2001:db8:9::5 udp count 300 size 16 gap 10us ttl 64 ports 20000 80 spread
wait 10ms
write r routes.set 10.9.0.0/16 nexthop 10.0.2.10 2 3 nexthop 10.0.2.12 2 2
write r routes6.set 2001:db8:9::/48 nexthop 2001:db8:2::a 2 3 nexthop 2001:db8:2::c 2 2
wait 1ms
flow a 10.9.0.5 udp count 300 size 16 gap 10us ttl 64 ports 20000 80 spread
flow a2 2001:db8:9::5 udp count 300 size 16 gap 10us ttl 64 ports 20000 80 spread
wait 10ms
flow a 10.9.0.5 udp count 300 size 16 gap 10us ttl 64 ports 30000 80 spread
flow a2 2001:db8:9::5 udp count 300 size 16 gap 10us ttl 64 ports 30000 80 spread
