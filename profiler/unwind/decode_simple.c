/* SPDX-License-Identifier: Apache-2.0 */

/* Decodes the instructions for which a table suffices, most of them; decode.c
 * does the others. */

#include "unwind/decode.h"
#include "unwind/forms.h"

#include <stdbool.h>

#define WORD ((intptr_t)sizeof(uintptr_t))
#define WIDE (sizeof(uintptr_t) == 8)
#define SP_NUMBER 4u /* of the registers in ModRM */
#define FP_NUMBER 5u

static intptr_t long_at(const uint8_t *at)
{
    int32_t value;

    __builtin_memcpy(&value, at, sizeof value);
    return value;
}

/* Bytes after a ModRM byte at (at): SIB and displacement. */
static uint32_t after_modrm(const uint8_t *at)
{
    uint32_t mod = at[0] >> 6, rm = at[0] & 7, bytes = 0;

    if (mod == 3)
        return 0;
    if (rm == SP_NUMBER) {
        bytes = 1;
        rm = at[1] & 7;
    }
    if (mod == 1)
        return bytes + 1;
    return mod == 2 || rm == FP_NUMBER ? bytes + 4 : bytes;
}

/* Whether the operation of (form) with the ModRM byte (modrm) writes neither sp
 * nor fp, nor r12 nor r13, which have the same lower bits. */
static bool is_harmless(uint32_t form, uint32_t modrm)
{
    if ((form & PROF_FORM_REGISTER) != 0)
        return (modrm >> 3 & 6) != SP_NUMBER;
    return (form & PROF_FORM_OPERAND) == 0 || modrm >> 6 != 3 ||
           (modrm & 6) != SP_NUMBER;
}

/* Where a jump of (form) leads, from its end; (at) is after the opcode. */
static intptr_t target(const uint8_t *at, uint32_t form)
{
    return (form & PROF_FORM_LONG) != 0 ? long_at(at) : (int8_t)*at;
}

/* An instruction of (length) bytes with (effect), and maybe a (value). */
static struct prof_instruction simple(uint32_t length, enum prof_effect effect,
                                      intptr_t value)
{
    return (struct prof_instruction){length, effect, value};
}

/* The same with opcode (op), which is frequent; (form) is that of the opcode,
 * (length) what it says, (wide) that the prefix REX.W is before it. */
static inline struct prof_instruction
simple_first(const uint8_t *at, uint32_t length, uint32_t form, bool wide)
{
    uint32_t op = at[-1];

    if ((op & 0xf0) == 0x50)
        return simple(length, PROF_EFFECT_SP, op < 0x58 ? -WORD : WORD);
    if ((op & 0xf8) == 0xb8)
        return simple(length + (wide ? 4 : 0), PROF_EFFECT_OTHER, 0);
    if (op == 0xe8)
        return simple(length, PROF_EFFECT_CALL, 0);
    if (op == 0xc3)
        return simple(length, PROF_EFFECT_RETURN, 0);
    if (op == 0xc9)
        return simple(length, PROF_EFFECT_LEAVE, 0);
    if (op == 0xe9 || op == 0xeb)
        return simple(length, PROF_EFFECT_JUMP,
                      target(at, form) + (intptr_t)length);
    return simple(0, PROF_EFFECT_OTHER, 0);
}

/* The effect of the instruction at (bytes), with (form) and ModRM byte (modrm):
 * whether it has an operand relative to the frame pointer. */
static inline enum prof_effect effect_of(const uint8_t *bytes, uint32_t form,
                                         uint32_t modrm)
{
    bool framed = (form & PROF_FORM_MODRM) != 0 && (modrm & 7) == FP_NUMBER &&
                  ((modrm >> 6) + 1) / 2 == 1 &&
                  !(WIDE && (*bytes & 0xf1) == 0x41);

    return framed ? PROF_EFFECT_FRAMED : PROF_EFFECT_OTHER;
}

/* The instruction at (bytes), if it is one of those that the tables suffice
 * for; else its length is 0. */
static inline struct prof_instruction decode_simple(const uint8_t *bytes)
{
    const uint8_t *at = bytes + (WIDE && (*bytes & 0xf0) == 0x40);
    uint32_t form = prof_forms[*at++], length;

    if (at[-1] == 0x0f)
        form = prof_forms_two[*at++];
    length = (uint32_t)(at - bytes) + (form & PROF_FORM_BYTES);
    if ((form & PROF_FORM_JUMP) != 0)
        return simple(length, PROF_EFFECT_BRANCH,
                      target(at, form) + (intptr_t)length);
    if ((form & PROF_FORM_FIRST) != 0)
        return simple_first(at, length, form, (*bytes & 0xf8) == 0x48);
    if ((form & PROF_FORM_MORE) != 0 || !is_harmless(form, *at))
        return simple(0, PROF_EFFECT_OTHER, 0);
    if ((form & PROF_FORM_MODRM) != 0)
        length += 1 + after_modrm(at);
    return simple(length, effect_of(bytes, form, *at), 0);
}

struct prof_instruction prof_decode(const uint8_t *bytes)
{
    struct prof_instruction instruction = decode_simple(bytes);

    return instruction.length != 0 ? instruction : prof_decode_all(bytes);
}
