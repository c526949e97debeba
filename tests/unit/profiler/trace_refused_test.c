/* SPDX-License-Identifier: Apache-2.0 */

/* The recorder's memory is refused: then there is none, and all goes on. */

#include "../unit.h"

#include "profiler_world.h"

#include "control/control.h"
#include "trace/recorder.h"

#include <prof/error.h>
#include <prof/trace.h>

static PROF_TRACE_SITE(site, "here");

FIXTURE(NULL, world_end);

TEST(refused_memory_is_an_error_and_no_more)
{
    world_new(PROF_MEMORY_DEFAULT);
    assert_int_equal(prof_trace_start(), PROF_OK); /* prof.trace=off */
    assert_int_equal(world_live, 0);
    assert_int_equal(prof_option("prof.trace=flight"), PROF_OK);
    for (int refused = 0; refused < 3; refused++) {
        world_refuse_from = world_allocations;
        world_refuse_count = 100;
        assert_int_equal(prof_trace_start(), PROF_EMEMORY);
        assert_int_equal(world_live, 0);
        assert_int_equal(prof_trace_mode(), PROF_TRACE_OFF);
        assert_true(prof_trace_create(PROF_TRACE_TASK, &site) ==
                    PROF_TRACE_UNKNOWN);
    }
    /* half as much will do, of which half is for events */
    world_refuse_from = world_allocations;
    world_refuse_count = 1;
    assert_int_equal(prof_trace_start(), PROF_OK);
    assert_true(prof_trace_cpus[0].mask ==
                PROF_TRACE_KIB_HEAP / 2 / 4 * 1024 - 1);
    assert_int_equal(world_live, 1);
    assert_int_equal(prof_trace_mode(), PROF_TRACE_FLIGHT);
    assert_int_equal(prof_trace_create(PROF_TRACE_TASK, &site), 1);
    assert_int_equal(prof_trace_set_mode(PROF_TRACE_OFF), PROF_OK);
    assert_int_equal(prof_trace_command_on(), PROF_OK); /* the same memory */
    assert_int_equal(world_live, 1);
    assert_int_equal(prof_trace_create(PROF_TRACE_TASK, &site), 2);
}

TEST(options_are_checked)
{
    assert_int_equal(prof_option("prof.trace=fly"), PROF_EVALUE);
    assert_int_equal(prof_option("prof.trace_kb=23"), PROF_EVALUE);
    assert_int_equal(prof_option("prof.trace_kb=24"), PROF_OK);
    assert_int_equal(prof_options()->trace_kib, 24);
    assert_int_equal(prof_option("prof.trace=stream"), PROF_OK);
    assert_int_equal(prof_options()->trace, PROF_TRACE_STREAM);
    assert_int_equal(prof_option("prof.trace=off"), PROF_OK);
}
