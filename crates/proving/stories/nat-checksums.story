# Checksums of TCP and UDP follow the translation.
family nat
seed 0
workers 4
vector 32
knob range 1
swap nat tap 2
flow web 203.0.113.1 tcp count 2 size 64 gap 1us ttl 64 ports 2007 7
link outside good
wait 10ms
swap nat range 1
flow web 203.0.113.1 udp count 11 size 16 gap 0s ttl 64 ports 2006 5000
wait 100ms
flow p 203.0.113.2 tcp count 17 size 500 gap 1ms ttl 64 ports 2000 443
wait 2us
stall nat worker 0 10ms
stall nat worker 1 40ms
flow p 203.0.113.2 udp count 14 size 64 gap 50us ttl 64 ports 2000 7
wait 2us
swap nat range 1
upgrade nat
wait 1us
flow a 198.51.100.5 tcp count 19 size 500 gap 1us ttl 64 ports 2004 80
stall nat worker 1 40ms
wait 200ms
read nat
