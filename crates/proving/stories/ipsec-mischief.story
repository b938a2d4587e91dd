# Packets that an attacker repeats at once or changes on their way are dropped, each with its reason, and disturb none of the others.
family ipsec
seed 1
workers 2
vector 32
knob mischief 3
flow a 10.0.2.10 udp count 40 size 64 gap 50us ttl 64 ports 2001 80 ecn 3
flow b 2001:db8:1::a tcp count 40 size 500 gap 50us ttl 64 ports 2002 80
flow a2 10.0.2.11 ping count 10 size 3000 gap 1ms ttl 64 ports 2003 80
wait 20ms
swap transit mischief 1
flow a 10.0.2.10 udp count 40 size 64 gap 50us ttl 64 ports 2004 80
flow b 2001:db8:1::a tcp count 40 size 500 gap 50us ttl 64 ports 2005 80
wait 20ms
swap transit mischief 4
flow a 10.0.2.10 udp count 40 size 64 gap 50us ttl 64 ports 2006 80
flow b 2001:db8:1::a tcp count 40 size 500 gap 50us ttl 64 ports 2007 80
