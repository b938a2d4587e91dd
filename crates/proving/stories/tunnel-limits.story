# A tunnel is one hop, and shorter than its links: who has too few hops left or may not be cut is told so by the gateway that knows.
family tunnel
seed 1
workers 2
vector 32
knob wrap 2
flow a 10.0.2.10 udp count 1 size 64 gap 1ms ttl 1 ports 2001 80
flow a 10.0.2.10 udp count 1 size 64 gap 1ms ttl 2 ports 2002 80
flow a 10.0.2.10 udp count 1 size 64 gap 1ms ttl 3 ports 2003 80
flow a 2001:db8:2::a udp count 1 size 64 gap 1ms ttl 2 ports 2004 80
flow a 2001:db8:2::a udp count 1 size 64 gap 1ms ttl 3 ports 2005 80
flow a 10.0.2.10 udp count 1 size 1448 gap 1ms ttl 64 ports 2006 80 whole
flow a 10.0.2.10 udp count 1 size 1449 gap 1ms ttl 64 ports 2007 80 whole
flow a 10.0.2.10 udp count 1 size 1449 gap 1ms ttl 64 ports 2007 81
flow a 2001:db8:2::a udp count 1 size 1428 gap 1ms ttl 64 ports 2008 80
flow a 2001:db8:2::a udp count 1 size 1429 gap 1ms ttl 64 ports 2009 80
flow a 10.0.2.1 udp count 1 size 64 gap 1ms ttl 64 ports 2010 80
flow a 2001:db8:2::1 ping count 1 size 64 gap 1ms ttl 64 ports 2011 80
wait 20ms
swap west life 1
flow a 10.0.2.10 ping count 3 size 64 gap 1ms ttl 64 ports 2012 80
wait 20ms
swap west life 2
flow a 10.0.2.10 ping count 3 size 64 gap 1ms ttl 64 ports 2013 80
