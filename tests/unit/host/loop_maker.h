/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LOOP_MAKER_H
#define LOOP_MAKER_H

/* Rounds of loop occupancy for tests of who reads them. */

#include "stream_maker.h"

static inline void made_loop(struct made *made, struct prof_event_loop account)
{
    MADE_EVENT(made, PROF_EVENT_LOOP, account);
}

/* "what@file" */
static inline void made_loop_site(struct made *made, uint16_t site,
                                  uint8_t kind, uint32_t line, const char *text)
{
    struct prof_event_loop_site head = {
        .site = site, .site_kind = kind, .line = line};
    uint8_t fields[sizeof head + 200];
    size_t bytes = strlen(text) + 1;

    memcpy(fields, &head, sizeof head);
    memcpy(fields + sizeof head, text, bytes);
    made_event(made, PROF_EVENT_LOOP_SITE, fields, sizeof head + bytes);
}

static inline void made_loop_row(struct made *made,
                                 struct prof_event_loop_row row)
{
    MADE_EVENT(made, PROF_EVENT_LOOP_ROW, row);
}

static inline void made_loop_node(struct made *made,
                                  struct prof_event_loop_context node)
{
    MADE_EVENT(made, PROF_EVENT_LOOP_CONTEXT, node);
}

static inline void made_loop_bucket(struct made *made, uint16_t site,
                                    uint8_t measure, uint64_t low,
                                    uint32_t count)
{
    struct prof_event_loop_bucket fields = {site, measure, low, count};

    MADE_EVENT(made, PROF_EVENT_LOOP_BUCKET, fields);
}

#endif
