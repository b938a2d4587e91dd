// Lookups in the tables of the Go module github.com/gaissmai/bart. Built and run by beside.rs, and speaks as dpdk.c does:
// table 0 is bart.Table, table 1 is bart.Fast. There are no batches: a batch is single lookups one after the other.
package main

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"net/netip"
	"os"
	"runtime"
	"runtime/debug"
	"syscall"
	"unsafe"

	"github.com/gaissmai/bart"
)

const ring = 16 << 20

var (
	packets   = make([]byte, ring)
	packetsAt int
	table     bart.Table[uint32]
	fast      bart.Fast[uint32]
	sum       uint32
	never     = os.Getpid() == 0
)

func touch(lines int) {
	for ; lines > 0; lines-- {
		packets[packetsAt]++
		packetsAt = (packetsAt + 64) % ring
	}
}

// Nanoseconds of processor time of this thread.
func now() float64 {
	var t syscall.Timespec
	const threadCPUTime = 3
	syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, threadCPUTime, uintptr(unsafe.Pointer(&t)), 0)
	return float64(t.Sec)*1e9 + float64(t.Nsec)
}

func addr(raw []byte) netip.Addr {
	if len(raw) == 16 {
		return netip.AddrFrom16([16]byte(raw))
	}
	var four [4]byte
	binary.BigEndian.PutUint32(four[:], binary.NativeEndian.Uint32(raw))
	return netip.AddrFrom4(four)
}

func slurp(name string) []byte {
	data, err := os.ReadFile(name)
	if err != nil {
		os.Exit(3)
	}
	return data
}

func pass(trace []netip.Addr, batch, cold int, useFast, lookups bool) {
	step := max(batch, 1)
	next := 0
	for at := 0; at+step <= len(trace); at += step {
		touch(cold * step)
		if !lookups {
			continue
		}
		for _, a := range trace[at+next : at+next+step] {
			var hop uint32
			if useFast {
				hop, _ = fast.Lookup(a)
			} else {
				hop, _ = table.Lookup(a)
			}
			sum += hop
			if batch == 0 && never {
				// It never does, but the next address waits for this one's next hop to know.
				next = int(hop)
			}
		}
	}
}

func timed(trace []netip.Addr, batch, cold int, useFast, lookups bool) float64 {
	start := now()
	pass(trace, batch, cold, useFast, lookups)
	return (now() - start) / float64(len(trace))
}

func main() {
	runtime.LockOSThread()
	width := 4
	if os.Args[1] == "6" {
		width = 16
	}
	start := now()
	faults := 0
	routes := slurp(os.Args[3])
	for ; len(routes) >= width+8; routes = routes[width+8:] {
		bits := int(binary.NativeEndian.Uint32(routes[width:]))
		hop := binary.NativeEndian.Uint32(routes[width+4:])
		prefix := netip.PrefixFrom(addr(routes[:width]), bits)
		if !prefix.IsValid() {
			faults++
			continue
		}
		table.Insert(prefix, hop)
		fast.Insert(prefix, hop)
	}
	built := (now() - start) / 1e9
	var traces [][]netip.Addr
	for _, name := range os.Args[4:] {
		raw := slurp(name)
		var trace []netip.Addr
		for ; len(raw) >= width; raw = raw[width:] {
			trace = append(trace, addr(raw[:width]))
		}
		traces = append(traces, trace)
	}
	// Nothing is allocated from here on, so there is nothing to collect.
	runtime.GC()
	debug.SetGCPercent(-1)
	fmt.Printf("ready 0 %.4f %d\n", built, faults)
	input := bufio.NewReader(os.Stdin)
	for {
		var trace, batch, cold, which, warm, first, count int
		if _, err := fmt.Fscan(input, &trace, &batch, &cold, &which, &warm, &first, &count); err != nil {
			return
		}
		pass(traces[trace][warm:first], batch, cold, which == 1, true)
		piece := traces[trace][first : first+count]
		took := timed(piece, batch, cold, which == 1, true)
		if cold > 0 {
			took -= timed(piece, batch, cold, which == 1, false)
		}
		fmt.Printf("%.4f\n", took)
	}
}
