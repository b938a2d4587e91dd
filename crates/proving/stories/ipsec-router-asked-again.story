# Both gateways begin anew while something outside repeats packets: the one is asked again and answers again, the other takes the first answers again, too.
family ipsec
seed 520190
workers 1
vector 1
knob mischief 2
flow b 10.0.1.10 udp count 10 size 64 gap 0s ttl 64 ports 2001 80
wait 40ms
flow a 2001:db8:2::1 ping count 3 size 16 gap 50us ttl 64 ports 11185 645
wait 1ms
swap east element 1
restart west workers 3
