# Hosts speak IPv4 and IPv6 by turns while a node drains and another begins anew: IPv6 crosses the cluster unchanged, also by way of the node that acts
# for their own.
family cluster-nat
seed 2
workers 2
vector 32
knob track 1
flow h0 2001:db8:2::2 udp count 60 size 64 gap 90ms ttl 64 ports 2001 7
flow h1 2001:db8:0::2 ping count 60 size 500 gap 90ms ttl 64 ports 2002 7
flow h2 10.0.0.2 tcp count 60 size 64 gap 90ms ttl 64 ports 2003 7
wait 400ms
write n0 vlb.drain
wait 2000ms
swap n1 tap 1
wait 2000ms
flow h0 2001:db8:3::2 tcp count 10 size 1400 gap 1ms ttl 64 ports 2004 80
flow h0 2001:db8:3::2 udp count 1 size 16 gap 0ms ttl 1 ports 2005 7
flow h3 2001:db8:0::2 udp count 10 size 64 gap 1ms ttl 2 ports 2006 7
wait 200ms
restart n2 workers 3
wait 3600ms
flow h2 2001:db8:1::2 udp count 10 size 64 gap 1ms ttl 64 ports 2007 7
flow h1 2001:db8:2::2 ping count 10 size 64 gap 1ms ttl 64 ports 2008 7
flow h2 10.0.0.2 tcp count 10 size 64 gap 1ms ttl 64 ports 2003 7
