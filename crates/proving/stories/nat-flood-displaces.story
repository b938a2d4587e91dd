# Flows that are answered go on in a flood of others.
family nat-flood
seed 117
workers 4
vector 1
flow p 203.0.113.2 tcp count 25 size 16 gap 50us ttl 64 ports 2005 5000
flow a2 203.0.113.1 tcp count 17 size 64 gap 5ms ttl 64 ports 2004 80
flow a 198.51.100.5 udp count 26 size 500 gap 5ms ttl 64 ports 2003 7
wait 100ms
wrong nat state
read nat
swap nat range 2
swap nat exit 1
swap nat range 2
wait 2ms
flow a2 203.0.113.9 udp count 121 size 16 gap 50us ttl 64 ports 10302 9 spread
flow x 203.0.113.2 tcp count 19 size 1400 gap 1ms ttl 64 ports 2007 7
wait 40ms
swap nat exit 1
flow x 203.0.113.2 ping count 14 size 16 gap 0s ttl 64 ports 2000 80
wait 2us
flow a 203.0.113.9 tcp count 16 size 500 gap 50us ttl 64 ports 2001 5000
wait 400us
flow web 10.0.0.10 udp count 4 size 64 gap 0s ttl 64 ports 2004 443
