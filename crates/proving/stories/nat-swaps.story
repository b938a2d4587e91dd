# Flows outlive swaps.
family nat
seed 2
workers 1
vector 32
knob exit 1
knob tap 1
flow p 203.0.113.2 ping count 27 size 500 gap 50us ttl 64 ports 2007 5000
stall nat worker 0 120ms
wait 300ms
storm nat 655
flow a2 198.51.100.5 udp count 16 size 1400 gap 1us ttl 64 ports 2007 7
read nat
stall nat worker 0 2ms
wait 90us
flow a 198.51.100.5 tcp count 8 size 500 gap 1us ttl 64 ports 2004 7
wait 3ms
wrong nat interface
flow a 198.51.100.5 ping count 7 size 64 gap 1us ttl 64 ports 2005 5000
flow web 198.51.100.5 ping count 12 size 16 gap 1ms ttl 64 ports 2005 443
wait 10ms
swap nat exit 1
trial nat exit 1 10ms
wait 20ms
flow a 10.0.0.1 ping count 18 size 64 gap 1ms ttl 2 ports 2000 443
wait 60us
swap nat range 0
