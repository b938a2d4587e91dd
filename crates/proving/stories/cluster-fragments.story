# Datagrams in fragments pass nodes that translate, both ways, whether or not they may be cut again, and so does a node that acts for another.
family cluster-nat
seed 3
workers 2
vector 32
knob track 1
flow h0 10.0.2.2 udp count 10 size 3000 gap 1ms ttl 64 ports 2001 7
flow h0 10.0.3.2 ping count 10 size 3000 gap 1ms ttl 64 ports 2002 7
flow h1 10.0.2.2 tcp count 10 size 3000 gap 0s ttl 64 ports 2003 7 whole
flow h3 2001:db8:1::2 udp count 10 size 3000 gap 1ms ttl 64 ports 2004 7
wait 200ms
write n0 vlb.drain
wait 3600ms
flow h0 10.0.2.2 udp count 10 size 3000 gap 1ms ttl 64 ports 2001 7
flow h0 10.0.1.2 tcp count 10 size 3000 gap 1ms ttl 64 ports 2005 80
flow h2 10.0.0.2 udp count 10 size 3000 gap 1ms ttl 64 ports 2006 7
