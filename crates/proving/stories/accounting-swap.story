# Flows that were counted before a swap, and not exported yet, are exported after it.
family accounting
seed 1
workers 2
vector 32
flow a 10.0.0.20 udp count 20 size 64 gap 50us ttl 64 ports 2000 53
flow b fd00::a tcp count 6 size 300 gap 50us ttl 64 ports 2001 80
wait 400us
swap meter tap 1
wait 5ms
capture meter pcap
wait 5ms
leap 30000ms
swap meter capacity 1
