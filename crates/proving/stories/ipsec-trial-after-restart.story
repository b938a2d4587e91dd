# A packet that was under way when both gateways began anew sets the new window ahead of the new numbers.
family ipsec
seed 410161
workers 1
vector 1
knob key 1
flow a2 10.0.2.11 tcp count 3 size 64 gap 1ms ttl 64 ports 32286 7
restart east workers 4
trial west key 0 30us
