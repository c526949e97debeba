/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program that knows nothing of causal profiling, and for which options ask
 * it (cases.py): most of its time is spent in one function, some in another,
 * and a third is called when a unit of work is done. Two are named twice.
 */

#include "other.h"

#include <kernel/console.h>
#include <kernel/loop.h>
#include <kernel/service.h>
#include <stdlib.h>
#include <string.h>

#define NAMED __attribute__((noinline, noclone))
#define HOT 18000u /* rounds of two instructions */
#define COLD 4000u

void hot_work(uint32_t rounds);
void cold_work(uint32_t rounds);
void work_done(void);

static struct loop_timer timer;
static unsigned units = 60000, done;

NAMED void hot_work(uint32_t rounds)
{
    for (uint32_t i = 0; i < rounds; i++)
        __asm__ volatile("");
}

NAMED void cold_work(uint32_t rounds)
{
    for (uint32_t i = 0; i < rounds; i++)
        __asm__ volatile("");
}

NAMED void work_done(void)
{
    if (++done == units)
        loop_stop();
}

static NAMED void twice(void)
{
    __asm__ volatile("nop; nop; nop; nop; nop; nop; nop");
}

static void work(void *unused)
{
    (void)unused;
    hot_work(HOT);
    cold_work(COLD);
    other_work();
    twice();
    work_done();
    loop_once(&timer, 0, work, NULL);
}

bool service_option(const char *key, const char *value)
{
    if (strcmp(key, "units") != 0)
        return false;
    units = (unsigned)strtoul(value, NULL, 10);
    return true;
}

int service_main(void)
{
    loop_once(&timer, 0, work, NULL);
    loop_run();
    console_line("%u units done", done);
    return 0;
}
