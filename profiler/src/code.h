/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_CODE_H
#define PROF_CODE_H

/*
 * Enough of an x86 disassembler to follow the stack pointer through a function
 * (Intel SDM vol. 2, chapter 2 and appendix A): how long an instruction is,
 * and what it does to the stack or to the course of the program. Of the width
 * that it is compiled for. AVX and later encodings are unknown to it.
 */

#include <stdint.h>

#define PROF_CODE_BYTES_MAX 15u /* of one instruction */

enum prof_code_kind {
    PROF_CODE_OTHER,
    PROF_CODE_SP,      /* sp += value: push, pop, add, sub, lea */
    PROF_CODE_PUSH_FP, /* the same, of the frame pointer */
    PROF_CODE_POP_FP,  /* pop of the frame pointer */
    PROF_CODE_LEAVE,
    PROF_CODE_SET_FP,  /* frame pointer = stack pointer */
    PROF_CODE_SP_LOST, /* sp becomes something else */
    PROF_CODE_RETURN,
    PROF_CODE_JUMP,   /* always, to value */
    PROF_CODE_BRANCH, /* perhaps, to value */
    PROF_CODE_END,    /* what follows is not reached from here, or unknown */
};

struct prof_code {
    uint32_t length; /* bytes, 0 = unknown */
    enum prof_code_kind kind;
    intptr_t value; /* bytes, or the target relative to this instruction */
};

/*
 * The instruction at (bytes), of which PROF_CODE_BYTES_MAX may be read.
 * Contexts: any. No state, no allocation.
 */
struct prof_code prof_code_at(const uint8_t *bytes);

#endif
