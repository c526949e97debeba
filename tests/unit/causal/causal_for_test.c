/* SPDX-License-Identifier: Apache-2.0 */

/* When experiments end by themselves. */

#include "../unit.h"

#include "../profiler/profiler_world.h"

#include <prof/causal.h>

#define SECOND 500000u /* cycles of a TSC that is slow */

static PROF_PROGRESS(point, "point");
static PROF_TARGET(target, "target");

/* prof.causal_for= counts from the start, also if they began again since. */
TEST(experiments_that_begin_again_end_in_time)
{
    const struct prof_causal_settings settings = {.tsc_hz = SECOND};
    uint64_t begin;

    prof_causal_add_progress(&point);
    prof_causal_add_target(&target);
    assert_int_equal(prof_option("prof.causal_for=1s"), 0);
    assert_int_equal(prof_causal_start(&settings), 0);
    begin = prof_tsc();
    while (prof_tsc() - begin <= SECOND)
        continue;
    prof_causal_again();
    prof_causal_step();
    assert_false(prof_causal_running());
    while (!prof_causal_complete())
        prof_causal_step();
    assert_non_null(strstr(world_output, "as long as prof.causal_for="));
}
