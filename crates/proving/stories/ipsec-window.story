# An association that gets a window of another size is the same one: its numbers go on, and what came has come, while an attacker sends all packets again.
family ipsec
seed 1
workers 2
vector 8
knob mischief 2
knob element 1
flow a 10.0.2.10 udp count 60 size 64 gap 500us ttl 64 ports 2001 80 ecn 2
flow b2 2001:db8:1::b ping count 60 size 64 gap 500us ttl 64 ports 2002 80
wait 3ms
swap west window 1
wait 7ms
swap east window 1
wait 30ms
