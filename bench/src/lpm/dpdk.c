/* Lookups in DPDK's rte_fib and rte_fib6. Built and run by dpdk.rs.
 *
 *   dpdk FAMILY PAGES ROUTES TRACE...
 *
 * FAMILY is 4 or 6; PAGES is "huge" or "small". ROUTES has a record for each route: address (a number of 4 bytes, or 16 bytes in network order), length
 * and next hop (numbers of 4 bytes). TRACE has addresses in the same form. Prints "ready HUGE SECONDS FAULTS": whether it has
 * huge pages, how long building took, how many routes were refused. Then for each line
 *
 *   TRACE BATCH COLD VECTOR WARM FIRST COUNT
 *
 * looks up the addresses from WARM on up to FIRST, then so many from FIRST on, and prints the nanoseconds of processor time a lookup
 * of the latter. COLD is how
 * many cache lines of packets are written for each address; what that takes alone is subtracted. A batch of 0 is
 * one at a time, each lookup waiting for the one before. */
#define _GNU_SOURCE
#include <rte_eal.h>
#include <rte_fib.h>
#include <rte_fib6.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define RING (16u << 20)
#define DEFAULT_HOP 0x3fffffff

static struct rte_fib *fib4;
static struct rte_fib6 *fib6;
static int six;
static uint8_t *ring;
static size_t ring_at;

static double now_ns(clockid_t clock)
{
	struct timespec t;
	clock_gettime(clock, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void *slurp(const char *path, size_t *bytes)
{
	struct stat status;
	FILE *file = fopen(path, "rb");
	if (!file || fstat(fileno(file), &status))
		exit(3);
	*bytes = (size_t)status.st_size;
	void *data = malloc(*bytes + 1);
	if (!data || fread(data, 1, *bytes, file) != *bytes)
		exit(3);
	fclose(file);
	return data;
}

static void touch_packets(size_t lines)
{
	for (; lines > 0; lines--, ring_at = (ring_at + 64) % RING)
		ring[ring_at]++;
}

static unsigned build(const uint8_t *routes, size_t bytes)
{
	unsigned faults = 0;
	size_t record = six ? 24 : 12;
	for (size_t at = 0; at + record <= bytes; at += record) {
		uint32_t numbers[2];
		memcpy(numbers, routes + at + record - 8, 8);
		if (six) {
			faults += rte_fib6_add(fib6, (uint8_t *)(uintptr_t)(routes + at), (uint8_t)numbers[0], numbers[1]) != 0;
		} else {
			uint32_t address;
			memcpy(&address, routes + at, 4);
			faults += rte_fib_add(fib4, address, (uint8_t)numbers[0], numbers[1]) != 0;
		}
	}
	return faults;
}

static uint64_t pass(uint8_t *trace, size_t first, size_t count, size_t batch, size_t cold, int lookups)
{
	uint64_t hops[256] = {0}, sum = 0;
	volatile uint32_t none = 0;
	uint32_t zero = none;
	size_t step = batch ? batch : 1;
	for (size_t at = first; at + step <= first + count; at += step) {
		touch_packets(cold * step);
		if (!lookups)
			continue;
		if (six) {
			uint8_t(*addresses)[16] = (uint8_t(*)[16])(trace + 16 * at);
			if (!batch)
				addresses[0][15] ^= (uint8_t)hops[0] & zero;
			rte_fib6_lookup_bulk(fib6, addresses, hops, (int)step);
		} else {
			uint32_t *addresses = (uint32_t *)trace + at;
			uint32_t next = addresses[0] ^ ((uint32_t)hops[0] & zero);
			rte_fib_lookup_bulk(fib4, batch ? addresses : &next, hops, (int)step);
		}
		sum += hops[0];
	}
	return sum;
}

static double timed(uint8_t *trace, size_t first, size_t count, size_t batch, size_t cold, int lookups)
{
	double start = now_ns(CLOCK_THREAD_CPUTIME_ID);
	volatile uint64_t sum = pass(trace, first, count, batch, cold, lookups);
	(void)sum;
	return (now_ns(CLOCK_THREAD_CPUTIME_ID) - start) / (double)count;
}

static int start_dpdk(int huge)
{
	char lcores[64];
	snprintf(lcores, sizeof lcores, "--lcores=0@(0-%ld)", sysconf(_SC_NPROCESSORS_CONF) - 1);
	char *with[] = {"bench", "--in-memory", "--no-pci", "--no-telemetry", "--log-level=critical",
		lcores, "--force-max-simd-bitwidth=512", "-m", "700"};
	char *without[] = {"bench", "--no-huge", "--no-pci", "--no-telemetry", "--log-level=critical",
		lcores, "--force-max-simd-bitwidth=512", "-m", "700"};
	return rte_eal_init(9, huge ? with : without);
}

int main(int argc, char **argv)
{
	size_t bytes, routes_bytes;
	uint8_t *traces[8];
	if (argc < 4 || argc > 10)
		return 2;
	six = argv[1][0] == '6';
	int huge = argv[2][0] == 'h';
	if (start_dpdk(huge) < 0)
		return 4;
	uint8_t *routes = slurp(argv[3], &routes_bytes);
	for (int i = 4; i < argc; i++)
		traces[i - 4] = slurp(argv[i], &bytes);
	ring = calloc(1, RING);
	struct rte_fib_conf conf4 = {.type = RTE_FIB_DIR24_8, .default_nh = DEFAULT_HOP, .max_routes = 1100000};
	conf4.dir24_8.nh_sz = RTE_FIB_DIR24_8_4B;
	conf4.dir24_8.num_tbl8 = 1 << 14;
	struct rte_fib6_conf conf6 = {.type = RTE_FIB6_TRIE, .default_nh = DEFAULT_HOP, .max_routes = 1 << 19};
	conf6.trie.nh_sz = RTE_FIB6_TRIE_4B;
	conf6.trie.num_tbl8 = 1 << 18;
	double start = now_ns(CLOCK_THREAD_CPUTIME_ID);
	if (six)
		fib6 = rte_fib6_create("six", -1, &conf6);
	else
		fib4 = rte_fib_create("four", -1, &conf4);
	if (!fib4 && !fib6)
		return 5;
	unsigned faults = build(routes, routes_bytes);
	printf("ready %d %.4f %u\n", huge, (now_ns(CLOCK_THREAD_CPUTIME_ID) - start) / 1e9, faults);
	fflush(stdout);
	size_t trace, batch, cold, vector, warm, first, count;
	while (scanf("%zu %zu %zu %zu %zu %zu %zu", &trace, &batch, &cold, &vector, &warm, &first, &count) == 7) {
		int refused = six
			? rte_fib6_select_lookup(fib6, vector ? RTE_FIB6_LOOKUP_TRIE_VECTOR_AVX512 : RTE_FIB6_LOOKUP_TRIE_SCALAR)
			: rte_fib_select_lookup(fib4, vector ? RTE_FIB_LOOKUP_DIR24_8_VECTOR_AVX512 : RTE_FIB_LOOKUP_DIR24_8_SCALAR_MACRO);
		if (refused) {
			printf("-1\n");
		} else {
			pass(traces[trace], warm, first - warm, batch, cold, 1);
			double with = timed(traces[trace], first, count, batch, cold, 1);
			printf("%.4f\n", cold ? with - timed(traces[trace], first, count, batch, cold, 0) : with);
		}
		fflush(stdout);
	}
	return 0;
}
