/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_DECODE_H
#define PROF_DECODE_H

/*
 * A partial x86 decoder, sufficient to follow the stack pointer through a
 * function (Intel SDM vol. 2, chapter 2 and appendix A): the length of an
 * instruction and its effect on stack and control flow. It decodes the width
 * that it is compiled for. It does not know VEX and EVEX (AVX) encodings.
 */

#include <stdint.h>

#define PROF_INSTRUCTION_BYTES_MAX 15u /* of one instruction */

enum prof_effect {
    PROF_EFFECT_OTHER,
    PROF_EFFECT_SP,      /* sp += value: push, pop, add, sub, lea */
    PROF_EFFECT_PUSH_FP, /* the same, of the frame pointer */
    PROF_EFFECT_POP_FP,  /* pop of the frame pointer */
    PROF_EFFECT_LEAVE,
    PROF_EFFECT_SET_FP,  /* frame pointer = stack pointer */
    PROF_EFFECT_SP_LOST, /* sp is set to an unknown value */
    PROF_EFFECT_FRAMED,  /* none, but has an operand relative to the frame
                            pointer; not found in all instructions */
    PROF_EFFECT_CALL,    /* near and direct; no effect in this function */
    PROF_EFFECT_RETURN,
    PROF_EFFECT_JUMP,   /* unconditional, to value */
    PROF_EFFECT_BRANCH, /* conditional, to value */
    PROF_EFFECT_END,    /* control does not continue after it, or unknown */
};

struct prof_instruction {
    uint32_t length; /* bytes, 0 = unknown */
    enum prof_effect effect;
    intptr_t value; /* bytes, or target relative to this instruction's start */
};

/*
 * Decodes the instruction at (bytes), of which PROF_INSTRUCTION_BYTES_MAX bytes
 * MUST be readable. No state, no allocation. Contexts: any.
 */
struct prof_instruction prof_decode(const uint8_t *bytes);

#endif
