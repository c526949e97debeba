/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lines as targets (suite/causal): a unit of work spends its time in lines and
 * inlined functions whose shares are known, as instructions are counted. The
 * suite finds lines by the comments at their ends. In twenties of rounds of a
 * hundred instructions, of 40:
 *
 *     20  the hot line, in mixed()
 *      8  the other line there
 *     12  inlined(), of which first() has a copy, and second() another
 */

#include <kernel/console.h>
#include <kernel/loop.h>
#include <kernel/service.h>
#include <stdlib.h>
#include <string.h>

#define NAMED __attribute__((noinline, noclone))

/* All on one line. Of each hundred instructions 98 do nothing, which costs an
 * emulator hardly anything. */
#define SPIN(rounds)                                                           \
    do {                                                                       \
        uint32_t left = (rounds);                                              \
        __asm__ volatile("1: .rept 98\n\tnop\n\t.endr\n\tdec %0\n\tjnz 1b"     \
                         : "+r"(left)                                          \
                         :                                                     \
                         : "cc");                                              \
    } while (0)

static struct loop_timer timer;
static unsigned units = 90000, done;

static inline __attribute__((always_inline)) void inlined(uint32_t rounds)
{
    SPIN(rounds);
}

static NAMED void mixed(void)
{
    SPIN(400); /* the hot line */
    SPIN(160); /* the other line */
}

static NAMED void first(void)
{
    inlined(180); /* the first copy */
}

static NAMED void second(void)
{
    inlined(60); /* the second copy */
}

void work_done(void);
NAMED void work_done(void)
{
    if (++done == units)
        loop_stop();
}

static void work(void *unused)
{
    (void)unused;
    mixed(); /* what calls it */
    first();
    second();
    work_done();
    loop_once(&timer, 0, work, NULL);
}

/* units=N */
bool service_option(const char *key, const char *value)
{
    if (strcmp(key, "units") != 0)
        return false;
    units = (unsigned)atoi(value);
    return true;
}

int service_main(void)
{
    loop_once(&timer, 0, work, NULL);
    loop_run();
    console_line("%u units done", done);
    return 0;
}
