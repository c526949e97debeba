/* SPDX-License-Identifier: Apache-2.0 */
/* Another function of a name that main.c has, too. */

#define NAMED __attribute__((noinline, noclone))
#define ROUNDS 10u /* of a hundred instructions */

static NAMED void twice(void)
{
    for (unsigned i = 0; i < ROUNDS; i++)
        __asm__ volatile(".rept 97\n\tnop\n\t.endr");
}

void other_work(void);
NAMED void other_work(void)
{
    twice();
}
