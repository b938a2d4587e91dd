# Errors about translated packets go to who sent these.
family nat
seed 5
workers 4
vector 128
knob exit 1
flow p 203.0.113.2 udp count 6 size 1400 gap 1us ttl 64 ports 2000 5000
wait 300ms
device nat 0 gone
swap nat range 1
wait 2us
flow a 203.0.113.9 tcp count 2 size 16 gap 1us ttl 1 ports 2007 443
flow a2 10.0.0.11 udp count 6 size 16 gap 1ms ttl 64 ports 2004 443
device nat 1 gone
wait 2ms
wrong nat class
flow a2 198.51.100.5 udp count 8 size 500 gap 0s ttl 64 ports 2006 80
wait 600us
flow x 203.0.113.2 ping count 9 size 500 gap 1us ttl 64 ports 2004 443
wait 600us
device nat 1 anew
flow a 203.0.113.9 udp count 26 size 64 gap 0s ttl 1 ports 2003 7
wait 10ms
device nat 0 back
flow a2 198.51.100.5 udp count 29 size 1400 gap 1ms ttl 64 ports 2000 7
