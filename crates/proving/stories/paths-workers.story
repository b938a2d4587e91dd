# Flows that are remembered stay where they are when other next hops come while other workers see their packets: through a capture and its end, a
# tap that leaves one worker, and a swap that is refused at last.
family paths
seed 1
workers 3
vector 32
knob memory 1
write r routes.set 10.9.0.0/16 nexthop 10.0.2.10 2 1
write r routes6.set 2001:db8:9::/48 nexthop 2001:db8:2::a 2 1
flow a 10.9.0.5 udp count 60 size 64 gap 20us ttl 64 ports 10000 80 spread
flow a2 2001:db8:9::5 tcp count 60 size 64 gap 20us ttl 64 ports 20000 443 spread
wait 20ms
capture r pcap
write r routes.set 10.9.0.0/16 nexthop 10.0.2.10 2 1 nexthop 10.0.2.11 2 1 nexthop 10.0.2.12 2 1
write r routes6.set 2001:db8:9::/48 nexthop 2001:db8:2::a 2 1 nexthop 2001:db8:2::b 2 1 nexthop 2001:db8:2::c 2 1
flow a 10.9.0.5 udp count 60 size 64 gap 20us ttl 64 ports 10000 80 spread
wait 20ms
capture r none
wrong r state
flow a 10.9.0.5 udp count 60 size 64 gap 20us ttl 64 ports 10000 80 spread
flow a2 2001:db8:9::5 udp count 60 size 64 gap 20us ttl 64 ports 40000 443 spread
wait 20ms
swap r tap 2
flow a 10.9.0.5 udp count 60 size 64 gap 20us ttl 64 ports 10000 80 spread
flow a2 2001:db8:9::5 udp count 60 size 64 gap 20us ttl 64 ports 40000 443 spread
wait 20ms
swap r tap 0
flow a 10.9.0.5 udp count 60 size 64 gap 20us ttl 64 ports 10000 80 spread
flow a2 2001:db8:9::5 udp count 60 size 64 gap 20us ttl 64 ports 40000 443 spread
wait 20ms
