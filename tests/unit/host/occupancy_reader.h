/* SPDX-License-Identifier: Apache-2.0 */
#ifndef OCCUPANCY_READER_H
#define OCCUPANCY_READER_H

/* A stream with rounds of loop occupancy, and what a reader makes of it.
 * After <cmocka.h>. */

#include "loop_maker.h"
#include "occupancy/occupancy.h"

static struct made made;
static struct occupancy occupancy;

static inline void set_up(void)
{
    made = (struct made){.packet_room = PROF_PACKET_DEFAULT, .step = 10};
    occupancy = (struct occupancy){0};
}

static inline void tear_down(void)
{
    free(made.bytes);
    occupancy_free(&occupancy);
}

static inline void take(void *owner, const struct packet *packet)
{
    occupancy_take(owner, packet);
}

/* Reads what was made, without the packets (from) to (to), and finishes. */
static inline void read_without(size_t from, size_t to)
{
    struct packet_sink sink = {take, &occupancy};
    uint64_t garbage = 0;

    made_word(&made, PROF_EVENT_BYE, 0); /* which ends the last round */
    made_flush(&made);
    for (size_t i = 0; i < made.sequence; ++i) {
        size_t bytes;
        const uint8_t *packet = made_packet(&made, i, &bytes);

        if (i < from || i >= to)
            packet_scan(packet, bytes, true, &sink, &garbage);
    }
    assert_int_equal(garbage, 0);
    occupancy_finish(&occupancy);
}

static inline void read_all(void)
{
    read_without(0, 0);
}

/* The kinds of problems that were found, "" = none. */
static inline void problems_are(const char *expected)
{
    static const char *const names[OCCUPANCY_PROBLEM_KINDS] = {
        [OCCUPANCY_MISSED] = "missed",
        [OCCUPANCY_STRAY] = "stray",
        [OCCUPANCY_TWICE] = "twice",
        [OCCUPANCY_NO_PLACE] = "no_place",
        [OCCUPANCY_NO_BUCKET] = "no_bucket",
        [OCCUPANCY_NO_KIND] = "no_kind",
        [OCCUPANCY_NOT_WALL] = "not_wall",
        [OCCUPANCY_NOT_SITES] = "not_sites",
        [OCCUPANCY_NOT_TOTAL] = "not_total",
        [OCCUPANCY_BACK] = "back",
        [OCCUPANCY_NOT_KEPT] = "not_kept",
    };
    char found[200] = "", text[OCCUPANCY_TEXT_MAX];

    for (unsigned i = 0; i < OCCUPANCY_PROBLEM_KINDS; ++i) {
        if (occupancy.problems[i].count == 0)
            continue;
        strcat(found, found[0] != '\0' ? " " : "");
        strcat(found, names[i]);
        assert_true(strlen(occupancy_problem_text(
                        &occupancy, (enum occupancy_problem_kind)i, text)) >
                    20);
    }
    assert_string_equal(found, expected);
}

enum { IDLE, SERVER, CLIENT }; /* sites */

static inline void put_places(void)
{
    made_loop_site(&made, IDLE, 5, 0, "idle");
    made_loop_site(&made, SERVER, 0, 11, "server@a/b.c");
    made_loop_site(&made, CLIENT, 1, 22, "cli@ent@c.c");
}

/* The account of a round at (second); wall is the time until then. */
static inline void begin_round(unsigned second, struct prof_event_loop account)
{
    made_flush(&made); /* a packet has the whole clock */
    made.step = 0;
    made.time = second * 10000000ull;
    account.wall = second * 2000000000ull;
    made_loop(&made, account);
}

static inline void put_row(uint16_t site, uint64_t own, uint64_t total)
{
    made_loop_row(&made, (struct prof_event_loop_row){
                             .site = site, .own = own, .total = total});
}

static inline void put_node(uint16_t node, uint16_t parent, uint16_t site,
                            uint64_t own, uint64_t total)
{
    made_loop_node(&made, (struct prof_event_loop_context){.node = node,
                                                           .parent = parent,
                                                           .site = site,
                                                           .calls = 1,
                                                           .own = own,
                                                           .total = total});
}

/* A round at (second) of two sites, and idleness: the first has called the
 * second. All is in proportion to the time. */
static inline void put_round(unsigned second)
{
    const uint64_t part = second * 20000000ull; /* a hundredth */

    begin_round(second, (struct prof_event_loop){.tasks = 10 * part,
                                                 .callbacks = 20 * part,
                                                 .idle = 57 * part,
                                                 .interrupts = 9 * part,
                                                 .sampler = 1 * part,
                                                 .stolen = 3 * part});
    put_places();
    put_row(IDLE, 57 * part, 57 * part);
    made_loop_row(&made, (struct prof_event_loop_row){.site = SERVER,
                                                      .calls = second,
                                                      .pending = 1,
                                                      .runs = 2 * second,
                                                      .own = 10 * part,
                                                      .total = 30 * part,
                                                      .longest = 7,
                                                      .run_p50 = 9});
    made_loop_row(&made, (struct prof_event_loop_row){.site = CLIENT,
                                                      .calls = 3 * second,
                                                      .runs = 4 * second,
                                                      .own = 20 * part,
                                                      .total = 20 * part,
                                                      .longest = 50 * part});
    put_node(0, 0, IDLE, 57 * part, 57 * part);
    put_node(1, 1, SERVER, 10 * part, 30 * part);
    put_node(2, 1, CLIENT, 20 * part, 20 * part);
    made_loop_bucket(&made, SERVER, 0, 5, 2 * second);
    made_loop_bucket(&made, CLIENT, 0, 160, 4 * second);
}

static inline void begin_stream(void)
{
    made_hello(&made, 64);
}

#endif
