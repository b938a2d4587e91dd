# A capture goes on through swaps, and says what is in the file and what is not when the disk is full.
family nat
seed 1
workers 3
vector 32
capture nat pcap
flow a 203.0.113.1 udp count 20 size 64 gap 50us ttl 64 ports 2001 7
wait 500us
swap nat tap 2
wait 500us
wrong nat state
wait 10ms
capture nat full
flow a 203.0.113.1 udp count 20 size 1400 gap 50us ttl 64 ports 2001 7
wait 500us
swap nat tap 0
wait 10ms
capture nat pcapng
flow a 203.0.113.1 ping count 20 size 64 gap 50us ttl 64 ports 2002 7
