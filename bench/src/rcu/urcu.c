/* The same loops as beside it in Rust, over liburcu's QSBR flavour. Built and run by urcu.rs.
 *
 *   urcu READS MS EVERY UPDATER
 *
 * One reader, bound to the first processor, with a quiescent state after each EVERY reads: READS of them, or if that is 0
 * as many as take about MS milliseconds. If EVERY is 0, sections last a quarter of a second, until MS are over. Meanwhile, on the last processor, an updater: none, callbacks (call_rcu, which
 * frees), recycle (call_rcu, which puts the node on a list that the updater takes nodes from), or synchronize. Prints one
 * line of JSON. */
#define _GNU_SOURCE
#define _LGPL_SOURCE /* inlines the read side */
#include <urcu-qsbr.h>
#include <urcu/uatomic.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct value {
	uint64_t number;
	struct rcu_head head;
	struct value *next; /* among those that are free */
};

static struct value *place;
static int stop;
static unsigned long reclaimed;

#define SLOW_NS 250000000u

static uint64_t now_ns(clockid_t clock)
{
	struct timespec t;
	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void bind_to(long processor)
{
	cpu_set_t set;
	CPU_ZERO(&set);
	CPU_SET((int)processor, &set);
	sched_setaffinity(0, sizeof set, &set);
}

static long resident_kib(void)
{
	long total = 0, resident = 0;
	FILE *file = fopen("/proc/self/statm", "r");
	if (file) {
		if (fscanf(file, "%ld %ld", &total, &resident) != 2)
			resident = 0;
		fclose(file);
	}
	return resident * (sysconf(_SC_PAGESIZE) / 1024);
}

static struct value *fresh(uint64_t number)
{
	struct value *value = malloc(sizeof *value);
	if (!value)
		abort();
	value->number = number;
	return value;
}

static void reclaim(struct rcu_head *head)
{
	free(caa_container_of(head, struct value, head));
	CMM_STORE_SHARED(reclaimed, reclaimed + 1);
}

/* Free nodes: callbacks push, the updater takes all, so nothing can come back between a look and a swap. */
static struct value *returned;
static struct value *spare; /* the updater's */

static struct value *used(uint64_t number)
{
	if (!spare)
		spare = uatomic_xchg(&returned, NULL);
	if (!spare)
		return fresh(number);
	struct value *value = spare;
	spare = value->next;
	value->number = number;
	return value;
}

static void give_back(struct rcu_head *head)
{
	struct value *value = caa_container_of(head, struct value, head);
	struct value *first = CMM_LOAD_SHARED(returned), *seen;
	for (;; first = seen) {
		value->next = first;
		seen = uatomic_cmpxchg(&returned, first, value);
		if (seen == first)
			break;
	}
	CMM_STORE_SHARED(reclaimed, reclaimed + 1);
}

struct outcome {
	const char *how;
	unsigned long updates, reclaimed;
	uint64_t ns, longest_ns;
	long grown_kib;
};

static void *update(void *arg)
{
	struct outcome *outcome = arg;
	int wait = !strcmp(outcome->how, "synchronize"), recycle = !strcmp(outcome->how, "recycle");
	bind_to(sysconf(_SC_NPROCESSORS_ONLN) - 1);
	rcu_register_thread();
	rcu_thread_offline();
	long before_kib = resident_kib();
	uint64_t begin = now_ns(CLOCK_MONOTONIC);
	while (!CMM_LOAD_SHARED(stop)) {
		struct value *new = recycle ? used(outcome->updates) : fresh(outcome->updates);
		struct value *old = rcu_xchg_pointer(&place, new);
		if (wait) {
			uint64_t waiting = now_ns(CLOCK_MONOTONIC);
			synchronize_rcu();
			uint64_t waited = now_ns(CLOCK_MONOTONIC) - waiting;
			if (waited > outcome->longest_ns)
				outcome->longest_ns = waited;
			reclaim(&old->head);
		} else {
			call_rcu(&old->head, recycle ? give_back : reclaim);
		}
		if (outcome->updates++ % 65536 == 0) {
			long grown_kib = resident_kib() - before_kib;
			if (grown_kib > outcome->grown_kib)
				outcome->grown_kib = grown_kib;
		}
	}
	outcome->ns = now_ns(CLOCK_MONOTONIC) - begin;
	outcome->reclaimed = CMM_LOAD_SHARED(reclaimed);
	rcu_unregister_thread();
	return NULL;
}

/* As noinline as the Rust loop is: one call a measurement. */
static __attribute__((noinline)) uint64_t read_many(uint64_t sections, uint64_t every)
{
	uint64_t sum = 0;
	for (uint64_t s = 0; s < sections; s++) {
		rcu_read_lock();
		for (uint64_t i = 0; i < every; i++)
			sum += rcu_dereference(place)->number;
		rcu_read_unlock();
		rcu_quiescent_state();
	}
	return sum;
}

/* Sections of SLOW_NS, for MS milliseconds in all. */
static uint64_t read_slowly(uint64_t ms)
{
	uint64_t sum = 0, begin = now_ns(CLOCK_MONOTONIC), end = begin + ms * 1000000, now = begin;
	for (; now < end; now = now_ns(CLOCK_MONOTONIC)) {
		uint64_t section = now;
		for (; now < end && now - section < SLOW_NS; now = now_ns(CLOCK_MONOTONIC))
			sum += rcu_dereference(place)->number;
		rcu_quiescent_state();
	}
	return sum;
}

int main(int argc, char **argv)
{
	if (argc != 5)
		return 2;
	uint64_t reads = strtoull(argv[1], NULL, 10), ms = strtoull(argv[2], NULL, 10);
	uint64_t every = strtoull(argv[3], NULL, 10);
	struct outcome outcome = { .how = argv[4] };
	int updating = strcmp(outcome.how, "none") != 0;
	pthread_t updater;

	if (!strcmp(outcome.how, "callbacks") || !strcmp(outcome.how, "recycle"))
		get_default_call_rcu_data(); /* its thread starts before any thread is bound */
	place = fresh(1);
	bind_to(0);
	rcu_register_thread();
	if (updating && pthread_create(&updater, NULL, update, &outcome))
		return 1;
	volatile uint64_t sink;
	double ns = 0;
	if (every) {
		if (!reads) {
			uint64_t few = 200000, begin = now_ns(CLOCK_THREAD_CPUTIME_ID);
			sink = read_many(few / every, every);
			reads = few * ms * 1000000 / (now_ns(CLOCK_THREAD_CPUTIME_ID) - begin + 1);
		}
		uint64_t sections = reads / every + 1, begin = now_ns(CLOCK_THREAD_CPUTIME_ID);
		sink = read_many(sections, every);
		ns = (double)(now_ns(CLOCK_THREAD_CPUTIME_ID) - begin) / (double)(sections * every);
	} else {
		sink = read_slowly(ms);
	}
	(void)sink;
	if (updating) {
		CMM_STORE_SHARED(stop, 1);
		rcu_thread_offline();
		pthread_join(updater, NULL);
		rcu_barrier();
	}
	double seconds = (double)outcome.ns / 1e9;
	uint64_t others_ns = now_ns(CLOCK_PROCESS_CPUTIME_ID) - now_ns(CLOCK_THREAD_CPUTIME_ID);
	printf("{\"ns\":%.6f,\"processor_ns\":%.3f,\"updates_per_s\":%.1f,\"reclaimed_per_s\":%.1f,\"longest_ns\":%llu,\"grown_kib\":%ld}\n", ns,
	       updating ? (double)others_ns / (double)(outcome.updates + 1) : 0.0,
	       updating ? (double)outcome.updates / seconds : 0.0,
	       updating ? (double)outcome.reclaimed / seconds : 0.0,
	       (unsigned long long)outcome.longest_ns, outcome.grown_kib);
	return 0;
}
