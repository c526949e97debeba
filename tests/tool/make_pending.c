/* SPDX-License-Identifier: Apache-2.0 */
/*
 * make_pending [gap]: writes a stream of a program that hangs: a task waits for
 * a promise that nobody resolves, for six seconds. A mutex rests, and a task of
 * another site is done. With "gap", events are lost in the middle, after which
 * nothing mentions the first task and its promise.
 */

#include "../unit/host/stream_maker.h"

#include <prof/trace.h>

static struct made made = {.packet_room = PROF_PACKET_DEFAULT, .step = 10};

enum { WAITER = 1, ANSWER, MUTEX, WORKER, ASKS };

static void put_site(uint16_t number, uint32_t line, const char *text)
{
    struct prof_event_site site = {number, line};
    uint8_t fields[sizeof site + 60];
    size_t bytes = strlen(text) + 1;

    memcpy(fields, &site, sizeof site);
    memcpy(fields + sizeof site, text, bytes);
    made_event(&made, PROF_EVENT_SITE, fields, sizeof site + bytes);
}

static void create(uint32_t object, enum prof_trace_kind kind, uint16_t site)
{
    MADE_EVENT(&made, PROF_EVENT_CREATE_WIDE,
               (struct prof_event_create_wide){object, (uint8_t)kind, site});
}

static void run(uint32_t object)
{
    made_word(&made, PROF_EVENT_SWITCH_WIDE, object);
}

int main(int argc, char **argv)
{
    (void)argv;
    put_site(WAITER, 12, "client@services/made/client.c");
    put_site(ANSWER, 30, "answer@services/made/client.c");
    put_site(MUTEX, 7, "lock@services/made/lock.c");
    put_site(WORKER, 5, "worker@services/made/worker.c");
    put_site(ASKS, 0, "asks");
    run(0);
    create(1, PROF_TRACE_TASK, WAITER);
    run(1);
    create(2, PROF_TRACE_PROMISE, ANSWER);
    made_word(&made, PROF_EVENT_TRY_READ_WIDE, 2);
    MADE_EVENT(&made, PROF_EVENT_SUSPEND_WIDE, (uint16_t){ASKS});
    run(0);
    create(3, PROF_TRACE_MUTEX, MUTEX);
    if (argc > 1) {
        made.step = 0;
        made_word(&made, PROF_EVENT_LOST, 17);
    }
    made.step = 6 * PROF_CLOCK_HZ;
    create(4, PROF_TRACE_TASK, WORKER);
    made.step = 1000;
    run(4);
    made_word(&made, PROF_EVENT_RESOLVE_WIDE, 4);
    run(0);
    made_flush(&made);
    fwrite(made.bytes, 1, made.count, stdout);
    free(made.bytes);
    return 0;
}
