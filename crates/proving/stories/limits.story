# Packets that have one hop left, or may not be cut and are too long, end at the router, and their senders hear of it.
family ip-router
seed 1
workers 2
vector 32
knob mtu 1
flow a 10.0.1.10 udp count 1 size 1390 gap 1ms ttl 64 ports 2001 80 whole
flow a 2001:db8:1::a udp count 1 size 1390 gap 1ms ttl 64 ports 2001 80
flow a 10.0.1.10 udp count 2 size 1390 gap 1ms ttl 64 ports 2002 80
flow a 10.0.1.10 udp count 1 size 100 gap 1ms ttl 1 ports 2003 80
flow a 2001:db8:1::a udp count 1 size 100 gap 1ms ttl 1 ports 2003 80
flow a 10.0.1.10 ping count 1 size 3000 gap 1ms ttl 1 ports 2004 80
flow a 10.0.1.10 ping count 2 size 3000 gap 1ms ttl 64 ports 2005 80
