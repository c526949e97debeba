/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_FORMS_H
#define PROF_FORMS_H

/* Opcode map: for each opcode one byte that describes its operands and effect
 * (Intel SDM vol. 2, appendix A). For decode.c, and for code that moves
 * instructions. */

#include <stdint.h>

enum prof_form {
    PROF_FORM_PLAIN = 0,    /* nothing; neither on the stack nor to control
                               flow */
    PROF_FORM_BYTE = 1,     /* an immediate of 8 bits */
    PROF_FORM_MODRM = 2,    /* a ModRM byte */
    PROF_FORM_LONG = 4,     /* an immediate of 16 or 32 bits, by operand size */
    PROF_FORM_REGISTER = 8, /* writes the register of ModRM: sp or fp? */
    PROF_FORM_OPERAND = 16, /* the same of its operand */
    PROF_FORM_JUMP = 32,    /* a conditional jump */
    PROF_FORM_MORE = 64,    /* more than that: decode.c knows */
    PROF_FORM_FIRST = 128,  /* the same, but frequent */
};

/* These bits are the size of the immediate in bytes, apart from prefixes. */
#define PROF_FORM_BYTES (PROF_FORM_BYTE | PROF_FORM_LONG)

/* The maps of one-byte opcodes, and of opcodes after 0x0f. */
extern const uint8_t prof_forms[256];
extern const uint8_t prof_forms_two[256];

#endif
