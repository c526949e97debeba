/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TASKS_MAKER_H
#define TASKS_MAKER_H

/* Events of objects for tests of who reads them, and the model of them. Objects
 * are named by their whole numbers, in the wide forms. */

#include "stream_maker.h"
#include "tasks/tasks.h"

#include <prof/trace.h>

static inline void made_create(struct made *made, uint32_t object,
                               enum prof_trace_kind kind, uint16_t site)
{
    MADE_EVENT(made, PROF_EVENT_CREATE_WIDE,
               (struct prof_event_create_wide){object, (uint8_t)kind, site});
}

static inline void made_two(struct made *made, enum prof_event kind,
                            uint32_t one, uint32_t other)
{
    uint32_t both[2] = {one, other};

    made_event(made, kind, both, sizeof both);
}

static inline void made_suspend(struct made *made, uint16_t why)
{
    MADE_EVENT(made, PROF_EVENT_SUSPEND_WIDE, why);
}

static inline void made_irq(struct made *made, enum prof_event kind,
                            uint8_t vector)
{
    MADE_EVENT(made, kind, vector);
}

static inline void made_named(struct made *made, enum prof_event kind,
                              uint32_t object, uint16_t name)
{
    struct prof_event_label_wide both = {object, name};

    made_event(made, kind, &both, sizeof both);
}

static inline void made_counter(struct made *made, uint16_t counter,
                                int64_t value)
{
    MADE_EVENT(made, PROF_EVENT_COUNTER_WIDE,
               (struct prof_event_counter_wide){counter, value});
}

static inline void made_name(struct made *made, uint16_t number,
                             const char *text)
{
    uint8_t fields[2 + 250];
    size_t bytes = strlen(text) + 1;

    memcpy(fields, &number, 2);
    memcpy(fields + 2, text, bytes);
    made_event(made, PROF_EVENT_NAME, fields, 2 + bytes);
}

static inline void made_site(struct made *made, uint16_t number, uint32_t line,
                             const char *text)
{
    struct prof_event_site site = {number, line};
    uint8_t fields[sizeof site + 240];
    size_t bytes = strlen(text) + 1;

    memcpy(fields, &site, sizeof site);
    memcpy(fields + sizeof site, text, bytes);
    made_event(made, PROF_EVENT_SITE, fields, sizeof site + bytes);
}

/* ---- for whoever reads them: what is made, and the model that has read it */

#define STEP 100u /* clocks between two events */

static struct made *made;
static struct tasks tasks;

static inline void begin_tasks(void)
{
    made = calloc(1, sizeof *made);
    made->packet_room = 4096;
    made->step = STEP;
}

static inline void end_tasks(void)
{
    tasks_free(&tasks);
    free(made->bytes);
    free(made);
}

/* Reads all packets but the one numbered (lost). */
static inline void read_without(uint32_t lost)
{
    made_flush(made);
    for (unsigned i = 0; i < made->sequence; ++i) {
        size_t bytes;
        const uint8_t *at = made_packet(made, i, &bytes);
        struct packet packet;

        assert_int_equal(packet_check(at, bytes, &packet), PACKET_GOOD);
        if (i != lost)
            tasks_take(&tasks, &packet);
    }
    tasks_finish(&tasks);
}

static inline void read_all(void)
{
    read_without(UINT32_MAX);
}

static inline uint64_t all_problems(void)
{
    uint64_t sum = 0;

    for (int i = 0; i < TASKS_PROBLEM_KINDS; ++i)
        sum += tasks.problem_counts[i];
    return sum;
}

#endif
