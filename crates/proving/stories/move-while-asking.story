# A host gets another Ethernet address while the answer to its question for a neighbour is on its way, from a router that is late.
family paths
seed 310277
workers 1
vector 1
flow a2 10.9.0.5 udp count 30 size 16 gap 1us ttl 64 ports 59103 443
wait 1us
move a2
