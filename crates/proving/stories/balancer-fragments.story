# Datagrams in fragments reach their servers, and so do the answers in fragments of several servers under one address.
family balancer
seed 1
workers 4
vector 32
knob mtu 1
flow c 203.0.113.10 udp count 10 size 3000 gap 0s ttl 64 ports 2000 7
flow c 203.0.113.10 udp count 10 size 3000 gap 0s ttl 64 ports 2001 7 whole
flow c 203.0.113.10 udp count 10 size 3000 gap 0s ttl 64 ports 2002 7
flow c2 203.0.113.10 tcp count 10 size 3000 gap 1us ttl 64 ports 2003 80 whole
flow c3 203.0.113.10 tcp count 3 size 1400 gap 1us ttl 64 ports 2004 80 whole
wait 5ms
swap lb set 2
flow c 203.0.113.10 udp count 10 size 3000 gap 0s ttl 64 ports 2001 7
