# Datagrams in fragments pass a translator both ways, whether or not they may be cut again. Those of two hosts behind one address are not mixed.
family nat
seed 1
workers 4
vector 32
knob mtu-in 2
knob mtu-out 1
flow a 203.0.113.1 udp count 20 size 3000 gap 0s ttl 64 ports 2001 7
flow a2 203.0.113.1 udp count 20 size 3000 gap 0s ttl 64 ports 2001 7 whole
flow a 198.51.100.5 ping count 10 size 3000 gap 50us ttl 64 ports 2002 7
flow a2 203.0.113.9 tcp count 10 size 3000 gap 1ms ttl 64 ports 2003 7
flow x 203.0.113.2 tcp count 10 size 3000 gap 1us ttl 64 ports 2004 80
wait 5ms
swap nat mtu-out 0
wait 100us
upgrade nat
flow web 203.0.113.9 udp count 10 size 3000 gap 1us ttl 64 ports 2005 7
flow a 203.0.113.9 udp count 10 size 3000 gap 1us ttl 64 ports 2005 7
