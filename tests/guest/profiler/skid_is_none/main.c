/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Skid: a sample is at the instruction that was to run next. One that takes
 * long and can be interrupted, as a string instruction, is blamed for its own
 * time; the one after it is not.
 */

#include "guest/guest.h"
#include "guest/tap.h"

#include <kernel/service.h>

void skid_loop(uint32_t rounds, void *memory);
extern const char skid_string[], skid_after[];

#define STEPS 4096u
#define REST 1000u
#define HZ 4000u
#define ROUNDS 31250u /* 1.3 s, an instruction being 8 ns */

static uint64_t at_string, at_after, at_rest;

static void count(const struct prof_stack_row *row, void *context)
{
    uintptr_t pc = row->addresses[0];

    (void)context;
    if (pc == (uintptr_t)skid_string)
        at_string += row->samples;
    else if (pc == (uintptr_t)skid_after)
        at_after += row->samples;
    else if (pc > (uintptr_t)skid_after && pc < (uintptr_t)skid_after + REST)
        at_rest += row->samples;
}

int service_main(void)
{
    static unsigned char memory[STEPS];
    uint64_t all;

    tap_plan(3);
    prof_set_rate(HZ);
    prof_start();
    for (uint32_t i = 0; i < ROUNDS / 125; i++) {
        skid_loop(125, memory);
        loop_poll();
    }
    prof_stop();
    prof_drain();
    prof_visit_stacks(count, NULL);
    all = at_string + at_after + at_rest;
    tap_note("%u samples: %u at the string instruction, %u after it, %u in "
             "the thousand",
             (unsigned)all, (unsigned)at_string, (unsigned)at_after,
             (unsigned)at_rest);
    tap_ok(all > 1000, "there are samples");
    tap_is_between(
        (int64_t)(at_string * 1000 / all), STEPS * 1000 / (STEPS + REST) - 20,
        STEPS * 1000 / (STEPS + REST) + 20, "it has the share of its steps");
    tap_is_between((int64_t)(at_after * 1000 / all), 0, 5,
                   "the one after it has one step's");
    return tap_end();
}
