/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program with functions that are targets by samples (cases.py): one that
 * cannot be patched, one that calls it, and one that is called too often to be.
 * They take 38, 38 and 29 % of the time.
 */

#include <kernel/console.h>
#include <kernel/loop.h>
#include <kernel/service.h>
#include <stdlib.h>
#include <string.h>

#define NAMED __attribute__((noinline, noclone))
#define UNIT 10000u /* rounds of two instructions, or three */
#define OFTEN 100u  /* calls in a unit */

/* It jumps to its first instruction, and has no frame. */
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
        "jumps_back: dec " FIRST_ARGUMENT "\n"
        "jnz jumps_back\n"
        "ret\n"
        ".size jumps_back, . - jumps_back\n"
        ".popsection\n");

void calls_it(uint32_t rounds);
void often(uint32_t rounds);
void rest(uint32_t rounds);
void work_done(void);

static struct loop_timer timer;
static unsigned units = 80000, done;

NAMED void calls_it(uint32_t rounds)
{
    jumps_back(rounds);
    __asm__ volatile(""); /* no tail call */
}

NAMED void often(uint32_t rounds)
{
    for (uint32_t i = 0; i < rounds; i++)
        __asm__ volatile("");
}

NAMED void rest(uint32_t rounds)
{
    for (uint32_t i = 0; i < rounds; i++)
        __asm__ volatile("");
}

NAMED void work_done(void)
{
    if (++done == units)
        loop_stop();
}

static void work(void *unused)
{
    (void)unused;
    calls_it(UNIT);
    for (uint32_t i = 0; i < OFTEN; i++)
        often(UNIT / 2 / OFTEN);
    rest(UNIT / 2);
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
