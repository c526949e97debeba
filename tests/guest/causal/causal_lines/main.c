/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lines as targets (suite/causal): a unit of work spends its time in lines and
 * inlined functions whose shares are known, as instructions are counted. The
 * suite finds lines by the comments at their ends. In thousands of rounds of
 * two instructions, of 40:
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

/* All on one line. */
#define SPIN(rounds)                                                           \
    do {                                                                       \
        uint32_t left = (rounds);                                              \
        __asm__ volatile("1: dec %0; jnz 1b" : "+r"(left));                    \
    } while (0)

static struct loop_timer timer;
static unsigned units = 90000, done;

static inline __attribute__((always_inline)) void inlined(uint32_t rounds)
{
    SPIN(rounds);
}

static NAMED void mixed(void)
{
    SPIN(20000); /* the hot line */
    SPIN(8000);  /* the other line */
}

static NAMED void first(void)
{
    inlined(9000); /* the first copy */
}

static NAMED void second(void)
{
    inlined(3000); /* the second copy */
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
