# Congestion that wrapped packets meet shows on what was in them, and ends those whose senders know nothing of marks; whatever the wrap, and
# while both ends change it.
family tunnel
seed 1
workers 2
vector 32
knob mark 1
flow a 10.0.2.10 udp count 30 size 64 gap 100us ttl 64 ports 2001 80 ecn 2
flow a2 2001:db8:2::b udp count 30 size 64 gap 100us ttl 64 ports 2002 80 ecn 1
flow b 10.0.1.11 udp count 30 size 64 gap 100us ttl 64 ports 2003 80 ecn 3
flow b2 2001:db8:1::a udp count 30 size 64 gap 100us ttl 64 ports 2004 80
wait 1ms
swap west wrap 2
wait 500us
swap east wrap 1
wait 500us
swap west wrap 3
swap transit mark 3
wait 500us
swap west wrap 4
swap east wrap 5
wait 10ms
swap west wrap 0
swap east wrap 2
swap transit mark 2
flow a 10.0.2.10 udp count 3 size 64 gap 100us ttl 64 ports 2005 80 ecn 2
flow a 2001:db8:2::a udp count 3 size 64 gap 100us ttl 64 ports 2006 80 ecn 1
flow b 10.0.1.10 udp count 3 size 64 gap 100us ttl 64 ports 2007 80 ecn 2
