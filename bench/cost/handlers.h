/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BENCH_HANDLERS_H
#define BENCH_HANDLERS_H

#include <stdint.h>

/* Ticks that the two handlers below have seen. */
extern volatile uint32_t bench_ticks;

/* Counts a tick and acknowledges it: the floor, six instructions. */
void bench_handler_bare(void);

/* The same, and the interrupted address into a ring of its own. */
void bench_handler_storing(void);

/* Two instructions a round. */
void bench_loop(uint32_t rounds);

/*
 * bench_loop() on a painted stack. Returns how many bytes below its own stack
 * pointer were written by interrupts, at most 1024.
 */
uint32_t bench_stack_loop(uint32_t rounds);

/* 65,536 instructions a round, each at an address of its own. */
void bench_sled(uint32_t rounds);

/* Prints a value in hundredths. */
void bench_emit(const char *name, uint64_t hundredths);

/* The worst case; prints its rows. */
void bench_worst(void);

#endif
