# What one worker puts into a queue wakes another that pulls from it.
family queues
seed 1
workers 4
vector 32
flow a 10.0.0.20 udp count 1 size 64 gap 0ns ttl 64 ports 2001 80
wait 20ms
flow a 10.0.0.20 udp count 5 size 64 gap 5ms ttl 64 ports 2002 80
wait 40ms
flow a 10.0.0.20 udp count 5 size 64 gap 5ms ttl 64 ports 2004 80
wait 40ms
flow a 10.0.0.20 udp count 5 size 64 gap 5ms ttl 64 ports 2006 80
