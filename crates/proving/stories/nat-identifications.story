# A trial lets other workers cut packets: what they cut has identifications of its own still.
family nat-flood
seed 910286
workers 4
vector 1
knob exit 1
knob mtu-in 1
knob range 1
flow web 10.0.0.80 udp count 12 size 3000 gap 50us ttl 64 ports 2002 443 whole
stall nat worker 0 80ms
wait 40ms
swap nat range 2
wait 200ms
flow web 198.51.100.5 tcp count 21 size 1480 gap 1ms ttl 64 ports 2004 80
wait 30us
flow a 203.0.113.1 tcp count 14 size 500 gap 50us ttl 64 ports 2000 80
trial nat tap 2 2ms
wait 5ms
flow web 198.51.100.5 udp count 27 size 1400 gap 50us ttl 64 ports 2007 7
