# In a flood the server's answer comes when its question's flow is gone, and begins a flow of its own.
family nat-flood
seed 910934
workers 4
vector 128
knob mtu-in 2
knob range 2
swap nat tap 2
flow web 198.51.100.5 udp count 176 size 16 gap 1us ttl 64 ports 10305 9 spread
wait 90us
flow x 203.0.113.2 tcp count 1 size 64 gap 50us ttl 1 ports 2001 7
flow p 203.0.113.2 udp count 25 size 500 gap 0s ttl 64 ports 2000 80
wait 200us
flow x 203.0.113.2 udp count 104 size 16 gap 0s ttl 64 ports 10118 9 spread
swap nat mtu-in 0
wait 1ms
flow web 203.0.113.1 udp count 148 size 16 gap 50us ttl 64 ports 10387 9 whole spread
flow x 203.0.113.2 tcp count 19 size 3000 gap 50us ttl 64 ports 2002 80 whole
flow web 203.0.113.1 udp count 129 size 16 gap 50us ttl 64 ports 10211 9 whole spread
wait 3us
flow a2 198.51.100.5 udp count 150 size 16 gap 0s ttl 64 ports 10231 9 spread
wait 5ms
stall nat worker 1 300us
swap nat exit 0
wait 30us
flow x 203.0.113.2 udp count 185 size 16 gap 1us ttl 64 ports 10041 9 whole spread
wait 200ms
flow web 198.51.100.5 udp count 62 size 16 gap 1us ttl 64 ports 10173 9 spread
stall nat worker 0 200us
wait 1ms
flow x 203.0.113.2 udp count 81 size 16 gap 50us ttl 64 ports 10080 9 whole spread
wait 3ms
