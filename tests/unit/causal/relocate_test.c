/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Moving the first instructions of a function: what is relative is adapted, and
 * what cannot be moved is refused.
 */

#include "../unit.h"

#include "causal/relocate.h"

#include <prof/error.h>
/* after these */

#define WIDE (sizeof(uintptr_t) == 8)
#define AWAY 0x1000u /* where it is moved to, from its place */

static uint8_t code[64];
static struct prof_moved moved;

/* Moves the function with these (count) bytes, and nops behind them. */
static int move(const void *bytes, size_t count, size_t size)
{
    memset(code, 0x90, sizeof code);
    memcpy(code, bytes, count);
    return prof_move((uintptr_t)code, size, (uintptr_t)code + AWAY, &moved);
}

#define MOVE(...)                                                              \
    move((const uint8_t[]){__VA_ARGS__}, sizeof((uint8_t[]){__VA_ARGS__}), 32)

/* Where the instruction that ends at offset (end) leads to, from the place of
 * the function. */
static int32_t leads_to(uint32_t end)
{
    int32_t distance;

    memcpy(&distance, moved.bytes + end - 4, 4);
    return distance + (int32_t)(AWAY + end);
}

TEST(test_plain)
{
    /* push ebp; mov ebp, esp; sub esp, 24 (with REX.W the same in 64 bits) */
    assert_int_equal(MOVE(0x55, 0x89, 0xe5, 0x83, 0xec, 0x18), 0);
    assert_int_equal(moved.taken, 6);
    assert_int_equal(moved.count, 11);
    assert_memory_equal(moved.bytes, code, 6);
    assert_int_equal(moved.bytes[6], 0xe9);
    assert_int_equal(leads_to(11), 6);
}

TEST(test_calls_and_jumps)
{
    /* call +16 */
    assert_int_equal(MOVE(0xe8, 0x10, 0, 0, 0), 0);
    assert_int_equal(moved.taken, 5);
    assert_int_equal(leads_to(5), 0x15);
    /* jmp -2^31 + 5 would be out of the image; jmp +16 */
    assert_int_equal(MOVE(0xe9, 0x10, 0, 0, 0), 0);
    assert_int_equal(leads_to(5), 0x15);
    /* je +8, short and long */
    assert_int_equal(MOVE(0x74, 0x08, 0x90, 0x90, 0x90), 0);
    assert_int_equal(moved.bytes[0], 0x0f);
    assert_int_equal(moved.bytes[1], 0x84);
    assert_int_equal(leads_to(6), 10);
    assert_int_equal(MOVE(0x0f, 0x85, 8, 0, 0, 0), 0);
    assert_int_equal(leads_to(6), 14);
    /* jmp short +8 */
    assert_int_equal(MOVE(0xeb, 0x08, 0x90, 0x90, 0x90), 0);
    assert_int_equal(moved.bytes[0], 0xe9);
    assert_int_equal(leads_to(5), 10);
    /* jecxz has no long form; a call by value may be returned to */
    assert_int_equal(MOVE(0xe3, 0x08), PROF_EPATCH_CODE);
    assert_int_equal(MOVE(0xff, 0xd0), PROF_EPATCH_CODE);
}

/* Position-independent code of i386: the call's return address is its result,
 * and so the call must stay where it is. */
TEST(test_calls_that_ask_where)
{
    /* push ebx; call +3; 3 nops; mov ebx, [esp]; ret; and without the mov */
    assert_int_equal(
        MOVE(0x53, 0xe8, 3, 0, 0, 0, 0x90, 0x90, 0x90, 0x8b, 0x1c, 0x24, 0xc3),
        PROF_EPATCH_CODE);
    assert_int_equal(MOVE(0xe8, 1, 0, 0, 0, 0x90, 0x8b, 0x04, 0x24, 0xc3),
                     PROF_EPATCH_CODE);
    assert_int_equal(MOVE(0xe8, 1, 0, 0, 0, 0x90, 0x8b, 0x44, 0x24, 4, 0xc3),
                     0);
    /* call +0; pop ebx */
    assert_int_equal(MOVE(0xe8, 0, 0, 0, 0, 0x5b), PROF_EPATCH_CODE);
}

/* What the operand at (offset) refers to has moved by as much as it itself; on
 * i386 it is absolute. */
static void refers_to(uint32_t offset, int32_t distance)
{
    int32_t found;

    memcpy(&found, moved.bytes + offset, sizeof found);
    assert_int_equal(found, WIDE ? distance - (int32_t)AWAY : distance);
}

TEST(test_relative_operands)
{
    /* cmp byte [rip + 16], 5; an immediate follows the distance */
    assert_int_equal(MOVE(0x80, 0x3d, 0x10, 0, 0, 0, 5), 0);
    refers_to(2, 0x10);
    assert_int_equal(moved.bytes[6], 5);
    /* push rbp; mov ebp, esp; mov eax, [rip - 8]: behind others */
    assert_int_equal(MOVE(0x55, 0x89, 0xe5, 0x8b, 0x05, 0xf8, 0xff, 0xff, 0xff),
                     0);
    assert_int_equal(moved.taken, 9);
    refers_to(5, -8);
}

TEST(test_refused)
{
    assert_int_equal(move("\x90\x90\x90\xc3", 4, 4), PROF_EPATCH_SHORT);
    assert_int_equal(move("\x90\x90\x90\xb8", 4, 5), PROF_EPATCH_SHORT);
    /* vzeroupper is unknown, in front or further on */
    assert_int_equal(MOVE(0xc5, 0xf8, 0x77, 0x90, 0x90), PROF_EPATCH_CODE);
    assert_int_equal(MOVE(0x90, 0x90, 0x90, 0x90, 0x90, 0xc5, 0xf8, 0x77),
                     PROF_EPATCH_CODE);
    /* nop; nop; jmp -3 leads to the second; -4 to the first: a loop */
    assert_int_equal(MOVE(0x90, 0x90, 0xeb, 0xfd, 0x90), PROF_EPATCH_BRANCH);
    assert_int_equal(MOVE(0x90, 0x90, 0xeb, 0xfc, 0x90), PROF_EPATCH_BRANCH);
    /* a jump from further on */
    assert_int_equal(MOVE(0x90, 0x90, 0x90, 0x90, 0x90, 0x75, 0xfc),
                     PROF_EPATCH_BRANCH);
}

/* The longest instructions that there can be fit. */
TEST(test_room)
{
    /* four nops, and 15 bytes: lock add dword [disp32 + sib], imm32 with
     * prefixes */
    assert_int_equal(MOVE(0x90, 0x90, 0x90, 0x90, 0x2e, 0x2e, 0x2e, 0xf0, 0x81,
                          0x84, 0x24, 1, 2, 3, 4, 5, 6, 7, 8),
                     0);
    assert_int_equal(moved.taken, 19);
    assert_true(moved.count <= PROF_MOVED_BYTES_MAX);
}
