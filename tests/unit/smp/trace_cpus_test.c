/* SPDX-License-Identifier: Apache-2.0 */

/* The recorder on several CPUs, played by one thread: rings, numbers and tables
 * of each, what one says of another one's objects, and whose packets events are
 * sent in. Built with PROF_CPUS_MAX of 64. */

#define _GNU_SOURCE /* registers by name */

#include "../single_step.h"
#include "../unit.h"

#include "../profiler/profiler_world.h"
#include "aggregate/drain.h"
#include "sample/cpus.h"
#include "stream/stream.h"
#include "trace/event.h"
#include "trace/names.h"
#include "trace/objects.h"
#include "trace/reader.h"
#include "trace/send.h"

#include <prof/cpus.h>
#include <prof/error.h>
#include <prof/trace.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#define CPUS 3u
#define ENTRIES 64u
#define PACKETS_MAX 64u
#define KIB 256u

static uint8_t packets[PACKETS_MAX][PROF_PACKET_DEFAULT];
static size_t packet_bytes[PACKETS_MAX];
static uint32_t packet_count;
static void *trace_memory;

static bool keep(const void *packet, size_t bytes)
{
    assert_true(packet_count < PACKETS_MAX && bytes <= sizeof packets[0]);
    memcpy(packets[packet_count], packet, bytes);
    packet_bytes[packet_count++] = bytes;
    return true;
}

static bool open_always(void)
{
    return true;
}

static const struct prof_transport keeper = {
    .name = "keeper", .open = open_always, .send = keep};

static PROF_TRACE_SITE(site, "here");
static PROF_TRACE_NAME(late, "late");
static PROF_TRACE_NAME(later, "later");

/* What follows runs on (number); CPUS: on one that has not joined. */
static void be(uint32_t number)
{
    prof_cpu_hosted = number == CPUS ? PROF_CPU_NOBODY : &prof_cpus[number];
}

static size_t memory_bytes(void)
{
    return CPUS * (WORLD_MEMORY(ENTRIES) + 2 * PROF_CACHE_LINE);
}

static void begin_in(enum prof_trace_mode mode)
{
    struct prof_config config = {
        .tsc_hz = WORLD_TSC_HZ,
        .cpus = CPUS,
        .tick = {.kind = PROF_TICK_HOOK,
                 .rate_mhz = WORLD_RATE_MHZ,
                 .irregular = true},
        .idle = {0x9000, 0x9010},
        .text = {0x1000, 0x1000000},
    };

    world_end();
    world_memory = malloc(memory_bytes());
    prof_control_forget();
    prof_cpu_limit = 0;
    memset(prof_cpus, 0, sizeof prof_cpus);
    memset(prof_trace_cpus, 0, sizeof prof_trace_cpus);
    site.tag = late.tag = later.tag = 0;
    packet_count = 0;
    assert_int_equal(prof_init(world_memory, memory_bytes(), &config), 0);
    prof_meter_end();
    prof_transport_use(&keeper);
    for (uint32_t i = 1; i < CPUS; i++) {
        be(CPUS);
        assert_int_equal(prof_cpu_join(i), 0);
    }
    be(0);
    trace_memory = malloc(KIB * 1024);
    assert_int_equal(prof_trace_open(trace_memory, KIB * 1024), PROF_OK);
    assert_int_equal(prof_trace_set_mode(mode), PROF_OK);
    prof_drain();
}

static void begin(void)
{
    begin_in(PROF_TRACE_STREAM);
}

static void end(void)
{
    be(0);
    (void)prof_trace_set_mode(PROF_TRACE_OFF);
    memset(prof_trace_cpus, 0, sizeof prof_trace_cpus);
    free(trace_memory);
    trace_memory = NULL;
    world_end();
}

FIXTURE(begin, end);

/* How many events of (kind) the packets of (cpu) have; *(last): the last. */
static uint32_t sent(uint16_t cpu, enum prof_event kind, struct event *last)
{
    struct event_reader reader;
    struct packet found;
    struct event event;
    uint32_t count = 0;

    for (uint32_t i = 0; i < packet_count; i++) {
        assert_int_equal(packet_check(packets[i], packet_bytes[i], &found),
                         PACKET_GOOD);
        if (found.cpu != cpu)
            continue;
        event_begin(&reader, &found);
        while (event_next(&reader, &event))
            if (event.kind == kind) {
                count++;
                if (last != NULL)
                    *last = event;
            }
        assert_true(event_all(&reader));
    }
    return count;
}

static uint32_t create(void)
{
    return prof_trace_create(PROF_TRACE_PROMISE, &site);
}

static bool lives(uint32_t object)
{
    const struct prof_object *found = prof_objects_find(object);

    return found != NULL && (found->state & PROF_OBJECT_LIVE) != 0;
}

static void poll_on(uint32_t number)
{
    be(number);
    prof_trace_poll();
    be(0);
}

TEST(each_cpu_numbers_its_objects)
{
    uint32_t seen[3 * CPUS];

    for (uint32_t i = 0; i < 3 * CPUS; i++) {
        be(i % CPUS);
        seen[i] = create();
        assert_int_equal(seen[i] % 4, i % CPUS);
        for (uint32_t k = 0; k < i; k++)
            assert_int_not_equal(seen[k], seen[i]);
    }
    be(0);
    for (uint32_t i = 0; i < CPUS; i++) {
        struct prof_trace_stats stats;

        assert_true(prof_trace_cpu_stats(i, &stats));
        assert_int_equal(stats.objects, 3);
    }
    assert_false(prof_trace_cpu_stats(CPUS, &(struct prof_trace_stats){0}));
}

TEST(each_cpu_has_its_packets)
{
    struct prof_trace_stats stats;

    for (uint32_t i = 0; i < CPUS; i++) {
        be(i);
        for (uint32_t k = 0; k <= i; k++)
            (void)create();
    }
    be(0);
    prof_drain();
    prof_stream_push();
    for (uint32_t i = 0; i < CPUS; i++)
        assert_int_equal(sent((uint16_t)i, PROF_EVENT_CREATE, NULL), i + 1);
    /* names are common, and defined in one place */
    assert_true(sent(0, PROF_EVENT_SITE, NULL) > 0);
    assert_int_equal(sent(1, PROF_EVENT_SITE, NULL), 0);
    prof_trace_stats(&stats);
    assert_int_equal(stats.lost, 0);
    assert_int_equal(stats.objects, 6);
    assert_int_equal(stats.sent, stats.events);
}

TEST(who_has_not_joined_records_nothing)
{
    struct prof_trace_cpu before = prof_trace_cpus[PROF_CPUS_MAX];

    be(CPUS);
    assert_int_equal(create(), PROF_TRACE_UNKNOWN);
    assert_int_equal(prof_trace_current(), PROF_TRACE_UNKNOWN);
    prof_trace_switch(7);
    prof_trace_suspend(&late);
    prof_trace_resolve(4);
    prof_trace_irq_enter(3);
    prof_trace_poll();
    assert_memory_equal(&before, &prof_trace_cpus[PROF_CPUS_MAX],
                        sizeof before);
    be(0);
}

TEST(each_cpu_has_its_current_object)
{
    be(1);
    prof_trace_switch(11);
    be(2);
    prof_trace_switch(12);
    be(1);
    assert_int_equal(prof_trace_current(), 11);
    be(0);
    assert_int_equal(prof_trace_current(), PROF_TRACE_UNKNOWN);
}

TEST(another_cpu_ends_it)
{
    uint32_t object;

    be(1);
    object = create();
    poll_on(1);
    assert_true(lives(object));
    be(2);
    prof_trace_label(object, &late);
    prof_trace_resolve(object);
    poll_on(2);
    assert_false(lives(object));
    assert_int_equal(prof_objects_find(object)->label,
                     late.tag >> PROF_NAME_SHIFT);
    assert_int_equal(prof_trace_cpus[2].strays.count, 0);
}

/* The CPU that has created it has not come to that in its table yet. */
TEST(another_cpu_ends_it_before_it_is_known)
{
    uint32_t object;

    be(1);
    object = create();
    be(2);
    prof_trace_resolve(object);
    poll_on(2);
    assert_null(prof_objects_find(object));
    assert_int_equal(prof_trace_cpus[2].strays.count, 1);
    poll_on(1);
    assert_true(lives(object));
    poll_on(2);
    assert_false(lives(object));
    assert_int_equal(prof_trace_cpus[2].strays.count, 0);
}

static uint32_t steps, wrong; /* instructions of CPU 2; after how many */
static bool is_child;

/* Between two instructions of CPU 2 a child goes on, in which CPU 1 follows its
 * ring there. So all are tried in one run, with a trap for each. */
static void on_trap(int signal, siginfo_t *info, void *context)
{
    int status = 1;
    pid_t child = fork();

    (void)signal, (void)info;
    ++steps;
    if (child == 0) {
        is_child = true;
        poll_on(1);
        be(2);
        ((ucontext_t *)context)->uc_mcontext.gregs[REG_EFL] &= ~TRAP_FLAG;
        return;
    }
    if (waitpid(child, &status, 0) != child || status != 0)
        wrong = steps;
}

/* CPU 2 follows its ring; wherever CPU 1 does that, too, holds(object). */
static void follow_in_steps(bool (*holds)(uint32_t), uint32_t object)
{
    struct sigaction old,
        action = {.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO};

    be(2);
    steps = wrong = 0;
    sigaction(SIGTRAP, &action, &old);
    STEP_ON();
    prof_objects_follow(&prof_trace_cpus[2], false);
    STEP_OFF();
    sigaction(SIGTRAP, &old, NULL);
    poll_on(1);
    poll_on(2);
    if (is_child)
        _exit(!holds(object));
    assert_true(holds(object));
    assert_int_equal(wrong, 0);
    assert_true(steps > 20);
}

static void be_in_one_slot(void)
{
    prof_trace_cpus[1].objects.mask = 0;
}

static uint32_t create_on_1(void)
{
    uint32_t object;

    be(1);
    object = create();
    be(2);
    return object;
}

static void end_on_1(uint32_t object)
{
    be(1);
    prof_trace_resolve(object);
    be(2);
}

static bool has_no_label(uint32_t object)
{
    const struct prof_object *found = prof_objects_find(object);

    return found != NULL && found->label == 0;
}

TEST(a_late_label_is_not_the_next_objects)
{
    uint32_t first;

    be_in_one_slot();
    first = create_on_1();
    poll_on(1);
    be(2);
    prof_trace_label(first, &late);
    end_on_1(first);
    follow_in_steps(has_no_label, create_on_1());
}

static bool has_the_last_label(uint32_t object)
{
    const struct prof_object *found = prof_objects_find(object);

    return found != NULL && found->label == later.tag >> PROF_NAME_SHIFT &&
           prof_trace_cpus[2].strays.count == 0;
}

TEST(the_last_label_stays)
{
    uint32_t object;

    be_in_one_slot();
    object = create_on_1();
    prof_trace_label(object, &late);
    prof_trace_label(object, &later);
    follow_in_steps(has_the_last_label, object);
}

/* What will never be known is not remembered for ever. */
TEST(an_object_that_is_nowhere_is_forgotten)
{
    be(2);
    prof_trace_resolve(4 * 1000 + 1); /* the other CPU has created none */
    prof_trace_resolve(PROF_TRACE_UNKNOWN);
    prof_trace_resolve(PROF_TRACE_NONE);
    poll_on(2);
    poll_on(2);
    assert_int_equal(prof_trace_cpus[2].strays.count, 0);
    assert_int_equal(prof_trace_cpus[2].objects.untracked, 0);
}

TEST(too_many_unknown_ends_are_counted)
{
    be(1);
    for (uint32_t i = 0; i < PROF_TRACE_STRAYS_MAX + 3; i++)
        (void)create();
    be(2);
    for (uint32_t i = 1; i <= PROF_TRACE_STRAYS_MAX + 3; i++)
        prof_trace_resolve(4 * i + 1);
    poll_on(2);
    assert_int_equal(prof_trace_cpus[2].strays.count, PROF_TRACE_STRAYS_MAX);
    assert_int_equal(prof_trace_cpus[2].objects.untracked, 3);
}

/* A record of another CPU that is just being written is neither lost, nor are
 * later ones sent before it. */
TEST(what_is_being_written_is_waited_for)
{
    struct prof_trace_record *record;
    struct prof_trace_stats stats;
    uint32_t at;

    be(1);
    assert_true(prof_trace_begin(&prof_trace_cpus[1], &at, &record));
    prof_trace_read(1000);
    be(0);
    prof_drain();
    prof_drain();
    prof_trace_stats(&stats);
    assert_int_equal(stats.lost, 0);
    assert_int_equal(prof_trace_cpus[1].stream.tail, at);
    record->what = PROF_TRACE_DID_READ;
    record->a = 2000;
    (void)prof_trace_end(record, at, 0);
    prof_drain();
    prof_stream_push();
    assert_int_equal(sent(1, PROF_EVENT_READ, NULL), 2);
    assert_int_equal(sent(1, PROF_EVENT_LOST, NULL), 0);
}

/* Unless half of the ring is behind it. */
TEST(it_is_not_waited_for_without_end)
{
    struct prof_trace_record *record;
    struct prof_trace_stats stats;
    uint32_t at, slots = (prof_trace_cpus[1].mask + 1) / PROF_TRACE_STEP;
    struct event lost = {0};

    be(1);
    assert_true(prof_trace_begin(&prof_trace_cpus[1], &at, &record));
    for (uint32_t i = 0; i < slots / 2 + 1; i++)
        prof_trace_read(1000);
    be(0);
    prof_drain();
    prof_trace_stats(&stats);
    assert_int_equal(stats.lost, 1);
    prof_stream_push();
    assert_int_equal(sent(1, PROF_EVENT_READ, NULL), slots / 2 + 1);
    assert_int_equal(sent(1, PROF_EVENT_LOST, &lost), 1);
    assert_int_equal(lost.as_lost.events, 1);
}

/* Losses are counted for each CPU. */
TEST(what_is_overwritten_is_lost_on_its_cpu)
{
    struct prof_trace_stats stats;
    uint32_t slots = (prof_trace_cpus[2].mask + 1) / PROF_TRACE_STEP;

    be(2);
    for (uint32_t i = 0; i < slots + 5; i++)
        prof_trace_read(1000);
    be(1);
    prof_trace_read(1000);
    be(0);
    prof_drain();
    assert_true(prof_trace_cpu_stats(2, &stats));
    assert_int_equal(stats.lost, 5);
    assert_int_equal(stats.events, slots + 5);
    assert_true(prof_trace_cpu_stats(1, &stats));
    assert_int_equal(stats.lost, 0);
    assert_int_equal(stats.sent, 1);
}

/* A trigger on any CPU stops all; the dump has a part for each. */
TEST(a_trigger_dumps_all_rings)
{
    uint32_t object;

    end();
    begin_in(PROF_TRACE_FLIGHT);
    be(1);
    object = create();
    be(2);
    prof_trace_read(object);
    prof_trace_trigger();
    prof_trace_read(object); /* after it */
    be(0);
    assert_int_equal(create(), PROF_TRACE_UNKNOWN);
    prof_drain();
    assert_true(prof_trace_is_on());
    assert_int_equal(sent(PROF_CPU_HISTORY + 1, PROF_EVENT_CREATE, NULL), 1);
    assert_int_equal(sent(PROF_CPU_HISTORY + 2, PROF_EVENT_READ, NULL), 1);
    assert_int_equal(sent(PROF_CPU_HISTORY + 1, PROF_EVENT_HISTORY, NULL), 1);
    assert_int_equal(sent(PROF_CPU_HISTORY + 2, PROF_EVENT_HISTORY, NULL), 1);
    assert_int_equal(sent(PROF_CPU_HISTORY, PROF_EVENT_HISTORY, NULL), 1);
    assert_int_equal(sent(PROF_CPU_HISTORY, PROF_EVENT_CREATE, NULL), 0);
}

/* A reader that comes late learns of the objects of all CPUs, once each CPU has
 * brought its table up to date. */
TEST(a_late_reader_knows_the_objects_of_all)
{
    uint32_t kept, ended;

    be(1);
    kept = create();
    ended = create();
    be(2);
    prof_trace_resolve(ended);
    be(0);
    prof_drain();
    prof_trace_hello();
    prof_drain();
    prof_stream_push();
    assert_int_equal(sent(1, PROF_EVENT_ALIVE, NULL), 0);
    poll_on(2); /* the end, before the object is in the table */
    poll_on(1);
    prof_drain();
    prof_stream_push();
    assert_int_equal(sent(1, PROF_EVENT_ALIVE, NULL), 0);
    poll_on(2);
    prof_drain();
    prof_stream_push();
    {
        struct event alive = {0};

        assert_int_equal(sent(1, PROF_EVENT_ALIVE, &alive), 1);
        assert_int_equal(alive.as_alive.object, kept);
    }
}

/* What one CPU writes is in no cache line that another one writes. */
TEST(rings_share_no_line)
{
    for (uint32_t i = 0; i < CPUS; i++) {
        const struct prof_trace_cpu *cpu = &prof_trace_cpus[i];

        assert_int_equal((uintptr_t)cpu % PROF_CACHE_LINE, 0);
        assert_int_equal((uintptr_t)&cpu->due % PROF_CACHE_LINE, 0);
        assert_int_equal((uintptr_t)cpu->records % PROF_CACHE_LINE, 0);
        assert_int_equal((uintptr_t)cpu->objects.slots % PROF_CACHE_LINE, 0);
    }
}
