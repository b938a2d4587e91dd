# Of two next hops each flow keeps to one, also through a swap.
family ip-router
seed 1
workers 2
vector 32
write r0 routes.add 10.9.0.0/16 nexthop 10.0.1.10 2 nexthop 10.0.1.11 2
wait 1ms
flow a 10.9.0.5 udp count 20 size 64 gap 1ms ttl 64 ports 2001 7
flow a2 10.9.0.5 tcp count 20 size 64 gap 1ms ttl 64 ports 2002 80
wait 10ms
swap r0 tap 2
