# What was sent before a swap that changes the range of ports is no flow of the new range, although its port may be in both.
family nat
seed 19
workers 1
vector 1
flow a 203.0.113.1 ping count 1 size 64 gap 1ms ttl 64 ports 2000 80
wait 200us
swap nat range 1
