/* SPDX-License-Identifier: Apache-2.0 */
/* Both sides, in the payload of the page (docs/views.md). */

#include "flame/sides_parts.h"

#include "page/columns.h"

static const char *const names[SIDES_KINDS] = {
    [SIDES_BOTH] = "seen by both",
    [SIDES_EARLY] = "before its first sample",
    [SIDES_AFTER] = "after its last sample",
    [SIDES_MASKED] = "interrupts off",
    [SIDES_SAMPLER] = "in its own interrupt",
    [SIDES_GAP] = "no tick came",
    [SIDES_CPU] = "other CPUs",
};

const char *sides_kind_name(enum sides_kind kind)
{
    return names[kind];
}

void sides_put_columns(const struct flame *flame, struct columns *columns)
{
    const struct sides *sides = flame->sides;
    const struct sides_sample *samples = sides->samples;
    const struct sides_window *windows = sides->windows;

    COLUMNS_PUT_ALL(columns, "outside.time", columns_put_change, sides->count,
                    samples[i].time);
    COLUMNS_PUT_ALL(columns, "outside.stack", columns_put, sides->count,
                    samples[i].stack);
    COLUMNS_PUT_ALL(columns, "outside.clocks", columns_put, sides->count,
                    samples[i].clocks);
    COLUMNS_PUT_ALL(columns, "outside.kind", columns_put, sides->count,
                    samples[i].kind);
    COLUMNS_PUT_ALL(columns, "window.kind", columns_put, sides->window_count,
                    windows[i].kind);
    COLUMNS_PUT_ALL(columns, "window.from", columns_put_change,
                    sides->window_count, windows[i].from);
    COLUMNS_PUT_ALL(columns, "window.length", columns_put, sides->window_count,
                    windows[i].to - windows[i].from);
}

json_t *sides_head(const struct flame *flame)
{
    const struct sides *sides = flame->sides;
    json_t *kinds = json_array();

    for (int i = 0; i < SIDES_KINDS; ++i)
        json_array_append_new(kinds, json_string(names[i]));
    return json_pack("{so sf sf sf sI sI sb}", "kinds", kinds, "error",
                     sides->error, "worst", sides->worst, "slack",
                     sides->align.slack < 1 ? sides->align.slack : -1.0,
                     "readings", (json_int_t)sides->align.count, "jumps",
                     (json_int_t)sides->align.jumped, "ended", sides->ended);
}
