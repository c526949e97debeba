/* SPDX-License-Identifier: Apache-2.0 */
/* Another function of a name that main.c has, too. */

#include "other.h"

#define NAMED __attribute__((noinline, noclone))
#define ROUNDS 500u /* of two instructions */

static NAMED void twice(void)
{
    for (unsigned i = 0; i < ROUNDS; i++)
        __asm__ volatile("");
}

NAMED void other_work(void)
{
    twice();
}
