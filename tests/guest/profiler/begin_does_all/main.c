/* SPDX-License-Identifier: Apache-2.0 */

/*
 * A kernel that calls prof_begin_with() and prof_poll(), and nothing else of
 * the set-up: all that its command line asks for is there. The reference
 * kernel's own set-up is refused, and its allocator renamed to one that does
 * not exist (ldflags): what the options ask for must fit into the pool that
 * prof_begin_with() has. With out=own the image has a transport of its own, and
 * names it too late for prof_start().
 */

#include "guest/guest.h"
#include "guest/tap.h"
#include "guest/wraps.h"

#include <kernel/service.h>
#include <prof/begin.h>
#include <prof/format.h>
#include <stdio.h>
#include <string.h>

#define SECONDS 3u
#define UNIT_CYCLES (400ull * GUEST_MS / 1000)
#define MARKED __attribute__((noinline, noclone))

static struct prof_config config; /* that of the reference kernel */
static bool own;                  /* out=own */
static bool begun;
static unsigned profiles, loops, causals, refused, complaints, packets, rows;
static PROF_TRACE_SITE(site, "worker");

bool service_option(const char *key, const char *value)
{
    own = strcmp(value, "own") == 0;
    return strcmp(key, "out") == 0;
}

int __wrap_prof_init(void *memory, size_t bytes,
                     const struct prof_config *given)
{
    if (begun)
        return __real_prof_init(memory, bytes, given);
    config = *given;
    return PROF_EABSENT;
}

/* What is said comes in pieces: lines are put together. */
void __wrap_prof_port_write(const char *text, size_t bytes)
{
    static char line[512];
    static size_t used;

    for (size_t i = 0; begun && i < bytes; i++) {
        if (used < sizeof line - 1)
            line[used++] = text[i];
        if (text[i] != '\n')
            continue;
        line[used] = '\0';
        used = 0;
        profiles += strncmp(line, "--- profile", 11) == 0;
        loops += strncmp(line, "--- event loop", 14) == 0;
        causals += strncmp(line, "--- causal", 10) == 0;
        rows +=
            strncmp(line, "  half_of_it  ", 14) == 0 && strstr(line, " +- ");
        refused += strncmp(line, "prof: no ", 9) == 0 ||
                   strncmp(line, "causal: no ", 11) == 0;
        complaints += strcmp(line, "prof: prof.hz=fast: invalid value for this "
                                   "option\n") == 0;
    }
    __real_prof_port_write(text, bytes);
}

static bool open_own(void)
{
    return true;
}

static bool send_own(const void *packet, size_t bytes)
{
    (void)packet;
    packets += bytes > 0;
    return true;
}

static MARKED void spend(uint64_t cycles)
{
    guest_spin(cycles);
}

static MARKED void half_of_it(void)
{
    spend(UNIT_CYCLES / 2);
}

static MARKED void do_unit(void)
{
    half_of_it();
    spend(UNIT_CYCLES / 2);
}

/* A task that does all units. */
static void work(void)
{
    static struct prof_loop_task loop;
    uint32_t task = prof_trace_create(PROF_TRACE_TASK, &site);
    uint64_t begin = arch_tsc();

    prof_loop_create(&loop, &site, task);
    while (arch_tsc() - begin < SECONDS * 1000ull * GUEST_MS) {
        prof_trace_switch(task);
        prof_loop_run(&loop);
        do_unit();
        prof_loop_pause(&loop);
        prof_trace_switch(PROF_TRACE_NONE);
        prof_poll();
    }
}

int service_main(void)
{
    static const struct prof_transport list[] = {
        {.name = "virtio", .open = open_own, .send = send_own}};
    static const char options[] = " prof.start=on prof.depth=32 prof.loop=5 "
                                  "prof.trace=stream prof.trace_stacks=8 "
                                  "prof.causal=on\tprof.target=half_of_it  "
                                  "prof.progress=do_unit prof.hz=fast "
                                  "else=1 prof.share=1024 ";
    struct prof_trace_stats trace;
    struct prof_stats stats;
    char line[320];

    snprintf(line, sizeof line, "kernel.elf%sprof.out=%s", options,
             own ? "virtio" : "shm");
    tap_plan(13);
    begun = true;
    tap_is_equal(prof_begin_with(&config, line, list, own), 0, "it begins");
    tap_is_equal(complaints, 1, "an invalid option is reported");
    tap_ok(prof_options()->depth == 32 && prof_options()->loop_rows == 5,
           "the others are in force");
    tap_ok(prof_running(), "it samples");
    tap_is_equal(prof_trace_mode(), PROF_TRACE_STREAM, "tasks are recorded");
    tap_ok(prof_loop_is_on(), "the loop has statistics");
    work();
    stats = guest_stats();
    prof_trace_stats(&trace);
    tap_is_equal(refused, 0, "nothing was refused for want of memory");
    tap_ok(stats.refusals == 0 && stats.dropped == 0, "no sample, either");
    tap_is_between(profiles, SECONDS - 1, SECONDS, "a table each second");
    tap_is_equal(loops, profiles, "with that of the loop");
    tap_ok(prof_causal_running() && causals == profiles && rows > 0,
           "and that of the experiments, in which the target gains");
    tap_ok(trace.sent > 1000 && trace.lost == 0, "what tasks do is sent");
    tap_ok(own ? packets > 10 : packets == 0 && stats.stream_packets > 10,
           "by the transport that was asked for");
    prof_causal_stop();
    prof_stop();
    prof_transport_end(0);
    return tap_end();
}
