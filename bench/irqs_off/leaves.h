/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BENCH_IRQS_OFF_LEAVES_H
#define BENCH_IRQS_OFF_LEAVES_H

/*
 * A program of which it is known what share of its time a CPU has interrupts
 * off: main.c is a guest of ours, and perf/linux/irqs_off.c is the same program
 * as a module of Linux. In each round, one leaf executes with interrupts off
 * and then another with interrupts on, the same instructions, as 30 to 70.
 */

#define OFF_TURNS 150000u /* of two instructions */
#define ON_TURNS 350000u

/* A function of its own, as symbols and callers show it. */
#define LEAF(name)                                                             \
    __attribute__((__noinline__)) static void name(unsigned turns)             \
    {                                                                          \
        __asm__ volatile("1: sub $1, %0\n\t"                                   \
                         "jnz 1b"                                              \
                         : "+r"(turns)                                         \
                         :                                                     \
                         : "cc");                                              \
    }

LEAF(leaf_off)
LEAF(leaf_on)

#endif
