/* SPDX-License-Identifier: Apache-2.0 */
/* What is slow in both services, and what is measured. A request takes from
 * when the frame was due that brought it until its answers have left by
 * net_link_flush(). */

#include "slow.h"

#include "load.h"

#include <kernel/clock.h>
#include <kernel/console.h>
#include <kernel/loop.h>
#include <kernel/net.h>
#include <prof/causal.h>
#include <prof/causal_functions.h>
#include <stdlib.h>
#include <string.h>

#define CHECKSUM_CYCLES 6000u
#define FLUSH_CYCLES 5000u
#define PERCENT_MAX 95u
#define LATENCIES_MAX 100000u
#define PENDING_MAX 256u
#define CYCLES_OF_ROUND 2u /* QEMU counts instructions */

enum how { PLAIN, REALLY, VIRTUALLY };

static const char *const names[SLOW_FUNCTIONS] = {"none", "parse", "lookup",
                                                  "checksum", "flush"};
static const char *const targets[SLOW_FUNCTIONS] = {
    NULL, "slow_parse", "slow_lookup", "slow_checksum", "slow_flush"};

static enum how how;
static enum slow what;
static uint32_t faster, visits = 2000;

static PROF_PROGRESS(visit, "request done");

static uint32_t visited;
static uint64_t began, virtually_began; /* of what is measured */
static uint64_t own, calls;             /* cycles of what is faster */
static uint32_t too_short;
static bool measures, over, put;
static uint64_t pending[PENDING_MAX]; /* when requests were due */
static uint32_t pending_count, lost;
static uint64_t latencies[LATENCIES_MAX];
static uint32_t latencies_count;

/* ---- slow functions */

static void spin(uint64_t cycles)
{
    uint32_t rounds = (uint32_t)(cycles / CYCLES_OF_ROUND);

    if (rounds != 0)
        __asm__ volatile("1: dec %0\n\t"
                         "jnz 1b"
                         : "+r"(rounds)
                         :
                         : "cc");
}

uint64_t slow_now(void)
{
    return how == PLAIN ? load_now() : prof_causal_time();
}

void slow_done(enum slow function, uint64_t since, uint32_t cycles)
{
    uint64_t less = 0;

    if (function == what && how != VIRTUALLY) {
        uint64_t took = slow_now() - since;

        less = (cycles + took) * faster / 100;
        if (measures) {
            own += took;
            calls++;
        }
    }
    if (cycles >= less)
        spin(cycles - less);
    else
        too_short++;
}

struct pbuf;
struct virtio_net_sum;
uint16_t __real_ip_chksum_pseudo(struct pbuf *buffer, uint8_t protocol,
                                 uint16_t bytes, const void *from,
                                 const void *to);
uint16_t __wrap_ip_chksum_pseudo(struct pbuf *buffer, uint8_t protocol,
                                 uint16_t bytes, const void *from,
                                 const void *to);
void __real_net_link_flush(void);
void __wrap_net_link_flush(void);
void __real_virtio_net_put(size_t bytes, const struct virtio_net_sum *sum);
void __wrap_virtio_net_put(size_t bytes, const struct virtio_net_sum *sum);

__attribute__((noinline)) static uint16_t
slow_checksum(struct pbuf *buffer, uint8_t protocol, uint16_t bytes,
              const void *from, const void *to)
{
    uint64_t since = slow_now();
    uint16_t sum = __real_ip_chksum_pseudo(buffer, protocol, bytes, from, to);

    slow_done(SLOW_CHECKSUM, since, CHECKSUM_CYCLES);
    return sum;
}

uint16_t __wrap_ip_chksum_pseudo(struct pbuf *buffer, uint8_t protocol,
                                 uint16_t bytes, const void *from,
                                 const void *to)
{
    return slow_checksum(buffer, protocol, bytes, from, to);
}

__attribute__((noinline)) static void slow_flush(void)
{
    uint64_t since = slow_now();

    __real_net_link_flush();
    slow_done(SLOW_FLUSH, since, FLUSH_CYCLES);
}

/* ---- what is measured */

static void begin(void)
{
    measures = true;
    began = load_now();
    virtually_began = prof_causal_time();
}

static int longer(const void *a, const void *b)
{
    uint64_t first = *(const uint64_t *)a, second = *(const uint64_t *)b;

    return first < second ? -1 : first > second;
}

static void end(void)
{
    uint64_t real = load_now() - began;
    uint64_t virtual_time = prof_causal_time() - virtually_began;
    uint64_t p99 = 0;
    struct prof_causal_stats stats;

    measures = false;
    over = true;
    prof_causal_stats(&stats);
    qsort(latencies, latencies_count, sizeof *latencies, longer);
    if (latencies_count != 0)
        p99 = latencies[(uint64_t)latencies_count * 99 / 100];
    console_line("truth: %s, %u %%: clients %llu, virtual %llu, p99 %llu, "
                 "answers %u, own %llu, calls %llu",
                 names[what], (unsigned)faster, (unsigned long long)real,
                 (unsigned long long)virtual_time, (unsigned long long)p99,
                 (unsigned)latencies_count, (unsigned long long)own,
                 (unsigned long long)calls);
    console_line(
        "truth: %llu refused, %u not noted, %u too short, %llu of %llu answers "
        "earlier than assumed",
        (unsigned long long)stats.held_refused, (unsigned)lost,
        (unsigned)too_short, (unsigned long long)stats.contradictions,
        (unsigned long long)stats.answers);
    loop_stop();
}

void slow_visit(void)
{
    prof_progress(&visit);
    visited++;
    if (visited == visits / 10)
        begin();
}

static void answers_left(void)
{
    uint64_t now = prof_causal_time();

    for (uint32_t i = 0; i < pending_count && measures; i++)
        if (latencies_count == LATENCIES_MAX)
            lost++;
        else
            latencies[latencies_count++] = now - pending[i];
    pending_count = 0;
    if (visited >= visits / 10 + visits && !over)
        end();
}

void __wrap_virtio_net_put(size_t bytes, const struct virtio_net_sum *sum)
{
    put = true;
    __real_virtio_net_put(bytes, sum);
}

/* Where nothing was sent it is looked at only. */
void __wrap_net_link_flush(void)
{
    if (!put) {
        __real_net_link_flush();
        return;
    }
    put = false;
    slow_flush();
    answers_left();
}

size_t __real_net_write(struct net_conn *conn, const void *bytes, size_t count);
size_t __wrap_net_write(struct net_conn *conn, const void *bytes, size_t count);

/* What one event has caused is one answer. */
size_t __wrap_net_write(struct net_conn *conn, const void *bytes, size_t count)
{
    uint64_t due = prof_causal_due();

    if (pending_count == 0 || pending[pending_count - 1] != due) {
        if (pending_count == PENDING_MAX)
            lost++;
        else
            pending[pending_count++] = due;
    }
    return __real_net_write(conn, bytes, count);
}

/* ---- the beginning */

static void start(void)
{
    const struct prof_causal_settings settings = {.tsc_hz = clock_tsc_hz()};
    const struct prof_target *target;
    int error = 0;

    if (what == SLOW_NONE)
        what = SLOW_PARSE; /* at normal speed */
    error = prof_causal_add_function(targets[what], PROF_CAUSAL_TARGET_ENTRY);
    prof_causal_add_progress(&visit);
    target = prof_causal_target(targets[what]);
    if (error == 0)
        error = prof_causal_start(&settings);
    if (error == 0)
        error = prof_causal_fix(target,
                                how == VIRTUALLY ? PROF_ONE / 100 * faster : 0);
    if (error != 0)
        console_line("truth: no experiments with %s (%d)", targets[what],
                     error);
}

int __real_net_listen(uint16_t port, const struct net_handlers *handlers,
                      void *context);
int __wrap_net_listen(uint16_t port, const struct net_handlers *handlers,
                      void *context);

int __wrap_net_listen(uint16_t port, const struct net_handlers *handlers,
                      void *context)
{
    int error = __real_net_listen(port, handlers, context);

    if (error == 0 && how != PLAIN)
        start();
    return error;
}

static bool one_of(const char *value, const char *const *words, unsigned count,
                   unsigned *found)
{
    for (*found = 0; *found < count; ++*found)
        if (strcmp(value, words[*found]) == 0)
            return true;
    return false;
}

bool __real_net_load_option(const char *key, const char *value);
bool __wrap_net_load_option(const char *key, const char *value);

bool __wrap_net_load_option(const char *key, const char *value)
{
    static const char *const hows[] = {"plain", "really", "virtually"};
    uint32_t number = (uint32_t)strtoul(value, NULL, 10);
    unsigned found;

    if (strcmp(key, "_truth_how") == 0 && one_of(value, hows, 3, &found))
        how = (enum how)found;
    else if (strcmp(key, "_truth_what") == 0 &&
             one_of(value, names, SLOW_FUNCTIONS, &found))
        what = (enum slow)found;
    else if (strcmp(key, "_truth_faster") == 0 && number <= PERCENT_MAX)
        faster = number;
    else if (strcmp(key, "_truth_visits") == 0 && number >= 10)
        visits = number;
    else
        return __real_net_load_option(key, value);
    return true;
}
