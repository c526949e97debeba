/* SPDX-License-Identifier: Apache-2.0 */

/* Where the caller is, instruction by instruction, in functions as bytes; the
 * same bytes mean nearly the same at both widths. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "unwind/prologue.h"
#include "unwind/decode.h"

#define FRAME PROF_PROLOGUE_FRAME
#define ROOM 64u /* bytes of text after each function */

/* One instruction, and where the caller is when it is about to run. */
struct line {
    const char *bytes;
    uint32_t length;
    uint32_t place;
};

#define LINE(bytes, place)                                                     \
    {                                                                          \
        bytes, sizeof bytes - 1, place                                         \
    }
#define END                                                                    \
    {                                                                          \
        NULL, 0, 0                                                             \
    }
#ifdef __x86_64__
#define W "\x48" /* REX.W, before what works on the stack pointer */
#define JUMP "\x08"
#else
#define W
#define JUMP "\x08"
#endif

static void check(const struct line *lines)
{
    static uint8_t text[256 + ROOM];
    struct prof_range function, range;
    size_t at = 0;

    memset(text, 0xcc, sizeof text);
    for (const struct line *line = lines; line->bytes != NULL; line++) {
        memcpy(text + at, line->bytes, line->length);
        at += line->length;
    }
    function = (struct prof_range){(uintptr_t)text, (uintptr_t)text + at};
    range = (struct prof_range){(uintptr_t)text, (uintptr_t)text + sizeof text};
    at = 0;
    for (const struct line *line = lines; line->bytes != NULL; line++) {
        assert_int_equal(prof_decode(text + at).length, line->length);
        assert_int_equal(
            prof_prologue_caller((uintptr_t)text + at, &function, &range),
            line->place);
        at += line->length;
    }
}

static void a_frame_from_beginning_to_end(void **unused)
{
    static const struct line lines[] = {
        LINE("\x55", 0),               /* push bp */
        LINE(W "\x89\xe5", 1),         /* mov bp, sp */
        LINE("\x53", FRAME),           /* push bx */
        LINE(W "\x83\xec\x18", FRAME), /* sub sp, 24 */
        LINE("\xe8\x00\x00\x00\x00", FRAME),
        LINE(W "\x83\xc4\x18", FRAME), /* add sp, 24 */
        LINE("\x5b", FRAME),           /* pop bx */
        LINE("\x5d", FRAME),           /* pop bp */
        LINE("\xc3", 0),
        END,
    };

    (void)unused;
    check(lines);
}

static void instructions_between_push_and_mov(void **unused)
{
    static const struct line lines[] = {
        LINE("\xf3\x0f\x1e\xfb", 0), /* endbr32 */
        LINE("\x31\xc0", 0),         /* xor eax, eax */
        LINE("\x55", 0),
        LINE("\xb8\x01\x00\x00\x00", 1),
        LINE("\x0f\xb6\x40\x10", 1), /* movzx eax, byte [ax + 16] */
        LINE(W "\x8b\xec", 1),       /* mov bp, sp, the other way */
        LINE("\xc9", FRAME),         /* leave */
        LINE("\x85\xc0", 0),         /* test eax, eax */
        LINE("\xc2\x08\x00", 0),     /* ret 8 */
        END,
    };

    (void)unused;
    check(lines);
}

static void no_frame_but_pushes(void **unused)
{
    static const struct line lines[] = {
        LINE("\x53", 0),
        LINE("\x56", 1),
        LINE("\x31\xdb", 2),         /* xor ebx, ebx */
        LINE("\x8b\x44\x24\x10", 2), /* mov eax, [sp + 16] */
        LINE("\x75\xfa", 2),         /* jnz to the mov */
        LINE("\x5e", 2),
        LINE("\x5b", 1),
        LINE("\xc3", 0),
        END,
    };

    (void)unused;
    check(lines);
}

static void a_frame_on_one_way_only(void **unused)
{
    static const struct line lines[] = {
        LINE("\x85\xff", 0),  /* test edi, edi */
        LINE("\x74" JUMP, 0), /* jz to the last xor */
        LINE("\x55", 0),         LINE(W "\x89\xe5", 1),
#ifdef __x86_64__
        LINE("\x66\x90", FRAME), /* nop */
#else
        LINE("\x0f\x1f\x00", FRAME),
#endif
        LINE("\x5d", FRAME),     LINE("\xc3", 0),
        LINE("\x31\xc0", 0), /* xor eax, eax */
        LINE("\xff\xc0", 0), /* inc eax */
        LINE("\xc3", 0),         END,
    };

    (void)unused;
    check(lines);
}

static void a_jump_to_another_function_is_a_return(void **unused)
{
    static const struct line lines[] = {
        LINE("\x55", 0),
        LINE(W "\x89\xe5", 1),
        LINE("\x5d", FRAME),
        LINE("\xe9\x00\x10\x00\x00", 0),
        END,
    };

    (void)unused;
    check(lines);
}

/* As where a jump table leads. */
static void a_return_far_behind(void **unused)
{
    static const struct line lines[] = {
        LINE("\xff\x60\x10", 0), /* jmp [ax + 16] */
        LINE("\x31\xc0", 0),
        LINE("\x31\xc0", 0),
        LINE("\x31\xc0", 0),
        LINE("\x31\xc0", 0),
        LINE("\x31\xc0", 0),
        LINE("\x31\xc0", 0),
        LINE("\x31\xc0", 0),
        LINE("\x31\xc0", 0),
        LINE("\x31\xc0", 0),
        LINE("\x31\xc0", 0),
        LINE("\x31\xc0", 0),
        LINE("\x31\xc0", 0),
        LINE("\x31\xc0", 0),
        LINE("\x31\xc0", 0),
        LINE("\x31\xc0", 0),
        LINE("\xc3", 0),
        END,
    };

    (void)unused;
    check(lines);
}

/* As where the cold part of a function with a frame goes back to it. */
static void a_jump_to_another_function_far_behind(void **unused)
{
    static const struct line lines[] = {
        LINE("\xff\x60\x10", 0), /* jmp [ax + 16] */
        LINE("\x31\xc0", FRAME), /* the last that is too far away */
        LINE("\x31\xc0", 0),
        LINE("\x31\xc0", 0),
        LINE("\x31\xc0", 0),
        LINE("\x31\xc0", 0),
        LINE("\x31\xc0", 0),
        LINE("\x31\xc0", 0),
        LINE("\x31\xc0", 0),
        LINE("\xe9\x00\x10\x00\x00", 0),
        END,
    };

    (void)unused;
    check(lines);
}

/* Jumps through tables: with the frame on, and with it given up. */
static void a_jump_through_a_table_is_looked_at_twice(void **unused)
{
    static const struct line within[] = {
        LINE("\x55", 0),
        LINE(W "\x89\xe5", 1),
        LINE("\x85\xff", FRAME),     /* test edi, edi */
        LINE("\x74\x03", FRAME),     /* jz to the leave */
        LINE("\xff\x60\x10", FRAME), /* jmp [ax + 16] */
        LINE("\xc9", FRAME),         /* leave */
        LINE("\x31\xc0", 0),         /* xor eax, eax */
        LINE("\xff\x60\x10", 0),
        END,
    };
    static const struct line away[] = {
        LINE("\x55", 0),
        LINE(W "\x89\xe5", 1),
        LINE("\x53", FRAME),
        LINE("\x5b", FRAME),
        LINE("\x5d", FRAME),
        LINE("\x53", 0), /* push bx, in between */
        LINE("\x5b", 1),
        LINE("\xff\xe0", 0), /* jmp ax */
        END,
    };

    (void)unused;
    check(within);
    check(away);
}

static void what_cannot_be_known_is_left_to_the_frame(void **unused)
{
    static const struct line lines[] = {
        LINE("\x55", 0),
        LINE(W "\x83\xe4\xf0", 1),   /* and sp, -16 */
        LINE("\x50", FRAME),         /* push ax */
        LINE("\xff\x60\x10", FRAME), /* jmp [ax + 16] */
        END,
    };
    struct prof_range empty = {0, 0};

    (void)unused;
    check(lines);
    assert_int_equal(prof_prologue_caller(0x1000, &empty, &empty), FRAME);
}

/* Whatever the bytes are: no fault, and an end. */
static void any_bytes_have_an_answer(void **unused)
{
    static uint8_t text[600];
    struct prof_range range = {(uintptr_t)text, (uintptr_t)text + sizeof text};
    uint32_t seed = 7;

    (void)unused;
    for (int turn = 0; turn < 3000; turn++) {
        for (size_t i = 0; i < sizeof text; i++) {
            seed = seed * 1664525u + 1013904223u;
            text[i] = (uint8_t)(seed >> 20);
        }
        for (size_t i = 0; i < sizeof text; i += 7)
            prof_prologue_caller((uintptr_t)text + i, &range, &range);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_frame_from_beginning_to_end),
        cmocka_unit_test(instructions_between_push_and_mov),
        cmocka_unit_test(no_frame_but_pushes),
        cmocka_unit_test(a_frame_on_one_way_only),
        cmocka_unit_test(a_jump_to_another_function_is_a_return),
        cmocka_unit_test(a_return_far_behind),
        cmocka_unit_test(a_jump_to_another_function_far_behind),
        cmocka_unit_test(a_jump_through_a_table_is_looked_at_twice),
        cmocka_unit_test(what_cannot_be_known_is_left_to_the_frame),
        cmocka_unit_test(any_bytes_have_an_answer),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
