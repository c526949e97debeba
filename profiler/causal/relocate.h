/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_RELOCATE_H
#define PROF_RELOCATE_H

/*
 * Relocates the first instructions of a function, to make room for a jump at
 * its beginning. Adapts operands relative to the instruction pointer. No state;
 * accesses only its arguments. Contexts: thread.
 */

#include <stddef.h>
#include <stdint.h>

#define PROF_JUMP_BYTES 5u /* of a jump with a 32-bit displacement */
/* Most bytes of moved code: two short branches, which become six bytes each,
 * one more instruction, and the jump after it. */
#define PROF_MOVED_BYTES_MAX 32u

struct prof_moved {
    uint8_t bytes[PROF_MOVED_BYTES_MAX]; /* to be executed at (at) */
    uint32_t count;
    uint32_t taken; /* bytes of the function: PROF_JUMP_BYTES or more */
};

/*
 * Relocates the beginning of the function of (size) bytes at (function) to
 * (at), and appends a jump to the rest of the function. Reads up to 14 bytes
 * after the function. Linear in its size. Returns 0, PROF_EPATCH_SHORT,
 * PROF_EPATCH_CODE or PROF_EPATCH_BRANCH (<prof/error.h>).
 */
int prof_move(uintptr_t function, size_t size, uintptr_t at,
              struct prof_moved *moved);

/* Stores a jump from (from) to (to) in (bytes). */
void prof_jump(uint8_t bytes[PROF_JUMP_BYTES], uintptr_t from, uintptr_t to);

#endif
