/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Programs that know nothing of causal profiling, and for which options ask it
 * (cases.py). Of one, most of the time is spent in one function, some in
 * another, and a third is called when a unit of work is done; two functions are
 * named twice. The other one, do=learnt, has functions that are targets by
 * samples: one that cannot be patched, one that calls it, and one that is
 * called too often to be. They take 38, 38 and 29 % of the time.
 */

#include "guest/guest.h"

#include <kernel/console.h>
#include <kernel/loop.h>
#include <kernel/service.h>
#include <prof/causal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define NAMED __attribute__((noinline, noclone))
#define HOT 54000u /* instructions */
#define COLD 12000u
#define CALLED 20000u
#define UNIT 15000u
#define OFTEN 100u /* calls in a unit */
#define WARM 1200000u

/* It jumps to its first instruction, and has no frame. A round has 100. */
#ifdef __i386__
#define FIRST_ARGUMENT "%eax"
void __attribute__((regparm(1))) jumps_back(uint32_t rounds);
#else
#define FIRST_ARGUMENT "%edi"
void jumps_back(uint32_t rounds);
#endif
__asm__(".pushsection .text\n"
        ".globl jumps_back\n"
        ".type jumps_back, @function\n"
        "jumps_back: .rept 98\n"
        "nop\n"
        ".endr\n"
        "dec " FIRST_ARGUMENT "\n"
        "jnz jumps_back\n"
        "ret\n"
        ".size jumps_back, . - jumps_back\n"
        ".popsection\n");

/* One that executes so many instructions. */
#define SPINS(name)                                                            \
    void name(uint32_t instructions);                                          \
    NAMED void name(uint32_t instructions)                                     \
    {                                                                          \
        __asm__ volatile("# " #name);                                          \
        guest_execute(instructions);                                           \
    }
SPINS(hot_work)
SPINS(cold_work)
SPINS(often)
SPINS(rest)

void other_work(void); /* other.c: calls a function twice() of its own */
void calls_it(uint32_t instructions);
void work_done(void);

static NAMED void twice(void)
{
    __asm__ volatile("nop; nop; nop; nop; nop; nop; nop");
}

NAMED void calls_it(uint32_t instructions)
{
    jumps_back(instructions / 100);
    __asm__ volatile(""); /* no tail call */
}

static struct loop_timer timer;
static unsigned units, done, warm, more, jumps;

NAMED void work_done(void)
{
    if (++done == units)
        loop_stop();
}

/* In experiments, and with jumps= in each second stretch of units only. */
static bool does_more(void)
{
    return prof_causal_running() && (jumps == 0 || done / jumps % 2 != 0);
}

static void work(void *unused)
{
    (void)unused;
    if (warm != 0) {
        warm--;
        rest(WARM);
        loop_once(&timer, 0, work, NULL);
        return;
    }
    hot_work(HOT);
    if (does_more())
        hot_work(more);
    cold_work(COLD);
    other_work();
    twice();
    work_done();
    loop_once(&timer, 0, work, NULL);
}

static void learnt(void *unused)
{
    (void)unused;
    calls_it(CALLED);
    for (uint32_t i = 0; i < OFTEN; i++)
        often(UNIT / OFTEN);
    rest(UNIT);
    work_done();
    loop_once(&timer, 0, learnt, NULL);
}

static void (*program)(void *unused) = work;

/* units=N: so many units, where no experiments need more; warm=N: after some N
 * ms at 1 GHz in one function; more=N: so many instructions more in
 * experiments; jumps=N: for N units so many more, and then N without. */
bool service_option(const char *key, const char *value)
{
    if (strcmp(key, "units") == 0)
        units = (unsigned)atoi(value);
    else if (strcmp(key, "warm") == 0)
        warm = (unsigned)atoi(value);
    else if (strcmp(key, "more") == 0)
        more = (unsigned)atoi(value);
    else if (strcmp(key, "jumps") == 0)
        jumps = (unsigned)atoi(value);
    else if (strcmp(key, "do") == 0 && strcmp(value, "learnt") == 0)
        program = learnt;
    else
        return false;
    return true;
}

int service_main(void)
{
    if (units == 0)
        units = program == work ? 120000 : 80000;
    loop_once(&timer, 0, program, NULL);
    loop_run();
    console_line("%u units done", done);
    return 0;
}
