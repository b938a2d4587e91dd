# A gateway that begins anew takes the other's errors again, which something outside repeats: the sender hears of each packet twice.
family ipsec
seed 1
workers 1
vector 1
knob mischief 2
flow a 10.0.2.10 udp count 3 size 16 gap 1ms ttl 2 ports 11185 645
wait 3ms
restart west workers 3
