/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Moves instructions. Relative are: near jumps and calls, conditional jumps,
 * and on x86_64 operands relative to the instruction pointer (Intel SDM vol. 2,
 * 2.2.1.6). Short jumps become long ones.
 */

#include "causal/relocate.h"

#include "unwind/decode.h"
#include "unwind/forms.h"

#include <prof/error.h>
#include <stdbool.h>

#define WIDE (sizeof(uintptr_t) == 8)
#define NEAR_BYTES 4u /* of a distance */
#define OP_TWO 0x0fu
#define OP_JUMP 0xe9u
#define OP_JUMP_SHORT 0xebu
#define OP_GROUP_FIVE 0xffu
#define OP_LOAD 0x8bu
#define OP_RETURN 0xc3u
#define MODRM_SIB 0x04u /* a register, and what a SIB byte says: */
#define SIB_STACK 0x24u /* memory at the stack pointer */

/* One instruction and where its parts are. */
struct one {
    uintptr_t at;
    const uint8_t *bytes;
    uint32_t opcode; /* its offset */
    uint32_t modrm;  /* the same; 0: it has none */
    struct prof_instruction is;
};

static bool is_prefix(uint8_t byte)
{
    return byte == 0x66 || byte == 0x67 || byte == 0xf0 || byte == 0xf2 ||
           byte == 0xf3 || (byte & 0xe7) == 0x26 || (byte & 0xfe) == 0x64;
}

static struct one decode_at(uintptr_t at)
{
    struct one one = {.at = at, .bytes = (const uint8_t *)at};
    uint32_t next;
    uint8_t op;

    one.is = prof_decode(one.bytes);
    if (one.is.length == 0)
        return one;
    while (is_prefix(one.bytes[one.opcode]))
        one.opcode++;
    if (WIDE && (one.bytes[one.opcode] & 0xf0) == 0x40)
        one.opcode++;
    op = one.bytes[one.opcode];
    next = one.opcode + 1;
    if (op != OP_TWO) {
        one.modrm = (prof_forms[op] & PROF_FORM_MODRM) != 0 ? next : 0;
        return one;
    }
    op = one.bytes[next++];
    if (op == 0x38 || op == 0x3a)
        one.modrm = next + 1;
    else if ((prof_forms_two[op] & PROF_FORM_MODRM) != 0)
        one.modrm = next;
    return one;
}

/* Whether it may lead elsewhere in the function, to (*to). */
static bool leads(const struct one *one, uintptr_t *to)
{
    *to = one->at + (uintptr_t)one->is.value;
    return one->is.effect == PROF_EFFECT_JUMP ||
           one->is.effect == PROF_EFFECT_BRANCH;
}

/* A call through a register or memory. Its return address would be in the
 * bytes that the jump replaces, for a task that waits there. */
static bool calls_by_value(const struct one *one)
{
    return one->bytes[one->opcode] == OP_GROUP_FIVE &&
           (one->bytes[one->modrm] >> 3 & 6) == 2;
}

static uint32_t distance_at(const uint8_t *bytes)
{
    uint32_t distance;

    __builtin_memcpy(&distance, bytes, sizeof distance);
    return distance;
}

/* Where a call leads that is no call by value. */
static uintptr_t called(const struct one *one)
{
    const uint32_t distance =
        distance_at(one->bytes + one->is.length - NEAR_BYTES);

    return one->at + one->is.length + (uintptr_t)(int32_t)distance;
}

/* Position-independent code of i386 asks where it is: it calls a function that
 * returns its return address (mov (%esp), register; ret), or the next
 * instruction, which pops it. Moved, it would get another answer. */
static bool asks_where(const struct one *one)
{
    const uint8_t *bytes;

    if (one->is.effect != PROF_EFFECT_CALL)
        return false;
    bytes = (const uint8_t *)called(one);
    return bytes == one->bytes + one->is.length ||
           (bytes[0] == OP_LOAD && (bytes[1] & 0xc7) == MODRM_SIB &&
            bytes[2] == SIB_STACK && bytes[3] == OP_RETURN);
}

static void add_bytes(struct prof_moved *moved, const uint8_t *bytes,
                      uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        moved->bytes[moved->count++] = bytes[i];
}

/* Adds the distance to (to) from the end of the instruction that it ends. */
static void add_distance(struct prof_moved *moved, uintptr_t at, uintptr_t to)
{
    uint32_t distance = (uint32_t)(to - (at + moved->count + NEAR_BYTES));

    add_bytes(moved, (const uint8_t *)&distance, sizeof distance);
}

/* A jump, call or conditional jump to (to). False: a form without distance of
 * 32 bits (loop, jecxz). */
static bool add_leading(struct prof_moved *moved, uintptr_t at,
                        const struct one *one, uintptr_t to)
{
    uint8_t op = one->bytes[one->opcode];
    const uint8_t jump = OP_JUMP;
    const uint8_t branch[] = {OP_TWO, (uint8_t)(op + 0x10)};

    if ((op & 0xfc) == 0xe0)
        return false;
    if (op == OP_JUMP_SHORT)
        add_bytes(moved, &jump, sizeof jump);
    else if ((op & 0xf0) == 0x70)
        add_bytes(moved, branch, sizeof branch);
    else
        add_bytes(moved, one->bytes, one->is.length - NEAR_BYTES);
    add_distance(moved, at, to);
    return true;
}

static bool is_relative(const struct one *one)
{
    return WIDE && one->modrm != 0 && (one->bytes[one->modrm] & 0xc7) == 5;
}

/* An instruction with an operand relative to its end. */
static void add_relative(struct prof_moved *moved, uintptr_t at,
                         const struct one *one)
{
    uintptr_t from = one->at, to = at + moved->count;
    uint32_t place = moved->count + one->modrm + 1;
    uint32_t distance = distance_at(one->bytes + one->modrm + 1);

    distance += (uint32_t)(from - to);
    add_bytes(moved, one->bytes, one->is.length);
    __builtin_memcpy(moved->bytes + place, &distance, sizeof distance);
}

static bool add_one(struct prof_moved *moved, uintptr_t at,
                    const struct one *one)
{
    uintptr_t to;

    if (one->is.effect == PROF_EFFECT_CALL)
        return add_leading(moved, at, one, called(one));
    if (leads(one, &to))
        return add_leading(moved, at, one, to);
    if (is_relative(one))
        add_relative(moved, at, one);
    else
        add_bytes(moved, one->bytes, one->is.length);
    return true;
}

/* Whether something in the function leads into the bytes of the jump, or to it:
 * a loop would be entered again and again. */
static int check_branches(uintptr_t function, size_t size)
{
    for (size_t at = 0; at < size;) {
        struct one one = decode_at(function + at);
        uintptr_t to;

        if (one.is.length == 0)
            return PROF_EPATCH_CODE;
        if (leads(&one, &to) && to - function < PROF_JUMP_BYTES)
            return PROF_EPATCH_BRANCH;
        at += one.is.length;
    }
    return 0;
}

int prof_move(uintptr_t function, size_t size, uintptr_t at,
              struct prof_moved *moved)
{
    *moved = (struct prof_moved){0};
    if (size < PROF_JUMP_BYTES)
        return PROF_EPATCH_SHORT;
    while (moved->taken < PROF_JUMP_BYTES) {
        struct one one = decode_at(function + moved->taken);

        if (one.is.length == 0 || calls_by_value(&one) || asks_where(&one) ||
            !add_one(moved, at, &one))
            return PROF_EPATCH_CODE;
        moved->taken += one.is.length;
    }
    if (moved->taken > size)
        return PROF_EPATCH_SHORT;
    prof_jump(moved->bytes + moved->count, at + moved->count,
              function + moved->taken);
    moved->count += PROF_JUMP_BYTES;
    return check_branches(function, size);
}

void prof_jump(uint8_t bytes[PROF_JUMP_BYTES], uintptr_t from, uintptr_t to)
{
    uint32_t distance = (uint32_t)(to - from - PROF_JUMP_BYTES);

    bytes[0] = OP_JUMP;
    __builtin_memcpy(bytes + 1, &distance, sizeof distance);
}
