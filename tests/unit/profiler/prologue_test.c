/* SPDX-License-Identifier: Apache-2.0 */

/* Where the caller is, instruction by instruction, in functions as bytes; the
 * same bytes mean nearly the same at both widths. */

#include "../unit.h"

#include "unwind/prologue.h"
#include "unwind/decode.h"

#define FRAME PROF_PROLOGUE_FRAME
#define ROOM 64u /* bytes of text before and after each function */

/* One instruction, and where the caller is when it is about to run. */
struct line {
    const char *bytes;
    uint32_t length;
    uint32_t place;
    uint32_t times; /* that it stands there */
};

#define LINES(bytes, place, times)                                             \
    {                                                                          \
        bytes, sizeof bytes - 1, place, times                                  \
    }
#define LINE(bytes, place) LINES(bytes, place, 1)
#ifdef __x86_64__
#define W "\x48" /* REX.W, before what works on the stack pointer */
#else
#define W
#endif
#define JUMP "\x08"

/* Functions, whose epilogues are such as compilers make; the last is not. */
static const struct example {
    const char *name;
    struct line lines[16];
} examples[] = {
    {"a frame from beginning to end",
     {
         LINE("\x55", 0),               /* push bp */
         LINE(W "\x89\xe5", 1),         /* mov bp, sp */
         LINE("\x53", FRAME),           /* push bx */
         LINE(W "\x83\xec\x18", FRAME), /* sub sp, 24 */
         LINE("\xe8\x00\x00\x00\x00", FRAME),
         LINE(W "\x83\xc4\x18", FRAME), /* add sp, 24 */
         LINE("\x5b", FRAME),           /* pop bx */
         LINE("\x5d", FRAME),           /* pop bp */
         LINE("\xc3", 0),
     }},
    {"instructions between push and mov",
     {
         LINE("\xf3\x0f\x1e\xfb", 0), /* endbr32 */
         LINE("\x31\xc0", 0),         /* xor eax, eax */
         LINE("\x55", 0), LINE("\xb8\x01\x00\x00\x00", 1),
         LINE("\x0f\xb6\x40\x10", 1), /* movzx eax, byte [ax + 16] */
         LINE(W "\x8b\xec", 1),       /* mov bp, sp, the other way */
         LINE("\xc9", FRAME),         /* leave */
         LINE("\x85\xc0", 0),         /* test eax, eax */
         LINE("\xc2\x08\x00", 0),     /* ret 8 */
     }},
    {"no frame but pushes",
     {
         LINE("\x53", 0),
         LINE("\x56", 1),
         LINE("\x31\xdb", 2),         /* xor ebx, ebx */
         LINE("\x8b\x44\x24\x10", 2), /* mov eax, [sp + 16] */
         LINE("\x75\xfa", 2),         /* jnz to the mov */
         LINE("\x5e", 2),
         LINE("\x5b", 1),
         LINE("\xc3", 0),
     }},
    {"a frame on one way only",
     {
         LINE("\x85\xff", 0),  /* test edi, edi */
         LINE("\x74" JUMP, 0), /* jz to the last xor */
         LINE("\x55", 0),
         LINE(W "\x89\xe5", 1),
#ifdef __x86_64__
         LINE("\x66\x90", FRAME), /* nop */
#else
         LINE("\x0f\x1f\x00", FRAME),
#endif
         LINE("\x5d", FRAME),
         LINE("\xc3", 0),
         LINE("\x31\xc0", 0), /* xor eax, eax */
         LINE("\xff\xc0", 0), /* inc eax */
         LINE("\xc3", 0),
     }},
    {"a jump to another function is a return",
     {
         LINE("\x55", 0),
         LINE(W "\x89\xe5", 1),
         LINE("\x5d", FRAME),
         LINE("\xe9\x00\x10\x00\x00", 0),
     }},
    /* As where a jump table leads. */
    {"a return far behind",
     {
         LINE("\xff\x60\x10", 0), /* jmp [ax + 16] */
         LINES("\x31\xc0", 0, 15),
         LINE("\xc3", 0),
     }},
    /* As where the cold part of a function with a frame goes back to it. */
    {"a jump to another function far behind",
     {
         LINE("\xff\x60\x10", 0), /* jmp [ax + 16] */
         LINE("\x31\xc0", FRAME), /* the last that is too far away */
         LINES("\x31\xc0", 0, 7),
         LINE("\xe9\x00\x10\x00\x00", 0),
     }},
    {"what cannot be known is left to the frame",
     {
         LINE("\x55", 0), LINE(W "\x83\xe4\xf0", 1), /* and sp, -16 */
         LINE("\x50", FRAME),                        /* push ax */
         LINE("\xff\x60\x10", FRAME),                /* jmp [ax + 16] */
     }},
    /* Opcodes after 0x0f are not those of one byte: 0x0f 0x58 and 0x0f 0x70 are
     * neither a pop nor a jump. */
    {"instructions of two bytes leave the stack alone",
     {
         LINE("\x53", 0),                 /* push bx */
         LINE("\xf2\x0f\x58\xc1", 1),     /* addsd xmm0, xmm1 */
         LINE("\x0f\x58\xc1", 1),         /* addps xmm0, xmm1 */
         LINE("\x66\x0f\x70\xc0\x00", 1), /* pshufd xmm0, xmm0, 0 */
         LINE("\x5b", 1),                 /* pop bx */
         LINE("\xc3", 0),
     }},
    /* As compilers order the instructions of a leaf. */
    {"a frame that is given up early",
     {
         LINE("\x55", 0),
         LINE(W "\x89\xe5", 1),
         LINE("\x31\xc0", FRAME),
         LINE("\x5d", FRAME),
         LINE("\xb8\x01\x00\x00\x00", 0), /* mov eax, 1 */
         LINE("\xb9\x01\x00\x00\x00", 0),
         LINE("\xba\x01\x00\x00\x00", 0),
         LINE("\xbe\x01\x00\x00\x00", 0),
         LINE("\xbf\x01\x00\x00\x00", 0),
         LINE("\x05\x01\x00\x00\x00", 0), /* add eax, 1 */
         LINE("\x05\x01\x00\x00\x00", 0),
         LINE("\x05\x01\x00\x00\x00", 0),
         LINE("\xc3", 0),
     }},
    /* What follows the call is of another path: this one does not come back. */
    {"a call has a frame",
     {
         LINE("\x55", 0),
         LINE(W "\x89\xe5", 1),
         LINE("\x85\xff", FRAME), /* test edi, edi */
         LINE("\x74\x02", FRAME), /* jz to the first mov */
         LINE("\x5d", FRAME),
         LINE("\xc3", 0),
         LINE("\xbf\x01\x00\x00\x00", FRAME), /* mov edi, 1 */
         LINE("\xe8\x00\x00\x00\x00", FRAME), /* call abort */
         LINE("\xc3", 0),
     }},
    {"a jump through a table with the frame on",
     {
         LINE("\x55", 0),
         LINE(W "\x89\xe5", 1),
         LINE("\x85\xff", FRAME),     /* test edi, edi */
         LINE("\x74\x03", FRAME),     /* jz to the leave */
         LINE("\xff\x60\x10", FRAME), /* jmp [ax + 16] */
         LINE("\xc9", FRAME),         /* leave */
         LINE("\x31\xc0", 0),         /* xor eax, eax */
         LINE("\xff\x60\x10", 0),
     }},
    {"a jump through a table with the frame given up",
     {
         LINE("\x55", 0), LINE(W "\x89\xe5", 1), LINE("\x53", FRAME),
         LINE("\x5b", FRAME), LINE("\x5d", FRAME),
         LINE("\x53", 0),                      /* push bx, in between */
         LINE("\x5b", 1), LINE("\xff\xe0", 0), /* jmp ax */
     }},
};

static uint8_t memory[COUNT(examples)][ROOM + 256 + ROOM];

/* Stores the code of an example. Returns its bytes. */
static size_t store(const struct example *example, uint8_t *all)
{
    uint8_t *text = all + ROOM;
    size_t at = 0;

    memset(all, 0xcc, sizeof memory[0]);
    for (const struct line *line = example->lines; line->times != 0; line++)
        for (uint32_t i = 0; i < line->times; i++) {
            memcpy(text + at, line->bytes, line->length);
            assert_int_equal(prof_decode(text + at).length, line->length);
            at += line->length;
        }
    return at;
}

/* Each line by itself, and with what is learnt of the function. (usual): its
 * epilogues are such as compilers make. */
static void check(const struct example *example, const uint8_t *all,
                  size_t bytes, bool usual)
{
    const uint8_t *text = all + ROOM;
    const struct prof_range function = {(uintptr_t)text,
                                        (uintptr_t)text + bytes};
    const struct prof_range range = {(uintptr_t)all,
                                     (uintptr_t)all + sizeof memory[0]};
    const uint32_t learnt = prof_prologue_learn(&function, &range);
    size_t at = 0;

    for (const struct line *line = example->lines; line->times != 0; line++)
        for (uint32_t i = 0; i < line->times; i++) {
            uintptr_t pc = (uintptr_t)text + at;

            if (usual && (at >= learnt || learnt == PROF_PROLOGUE_LEAF))
                assert_true(line->place == 0 ||
                            (at >= learnt && line->place == FRAME));
            if (prof_prologue_caller(pc, &function, &range, 0) != line->place ||
                prof_prologue_caller(pc, &function, &range, learnt) !=
                    line->place)
                fail_msg("%s: wrong at byte %zu", example->name, at);
            at += line->length;
        }
}

TEST(the_caller_is_found_at_each_instruction)
{
    for (size_t i = 0; i < COUNT(examples); i++) {
        size_t bytes = store(&examples[i], memory[i]);

        check(&examples[i], memory[i], bytes, i + 1 < COUNT(examples));
    }
}

/* With the jump out of the function that causal experiments put there. */
TEST(and_while_the_beginning_is_patched)
{
    static const char jump[] = "\xe9\x00\x10\x00\x00";
    static struct prof_prologue_head heads[COUNT(examples)];

    _Static_assert(sizeof jump - 1 == PROF_PROLOGUE_PATCHED, "all of it");
    for (size_t i = 0; i < COUNT(examples); i++) {
        size_t bytes = store(&examples[i], memory[i]);

        heads[i].begin = (uintptr_t)memory[i] + ROOM;
        prof_prologue_add(&heads[i]);
        memcpy(memory[i] + ROOM, jump, sizeof jump - 1);
        check(&examples[i], memory[i], bytes, i + 1 < COUNT(examples));
    }
}

static uint32_t learnt_of(const void *code, size_t bytes)
{
    static uint8_t text[ROOM];
    struct prof_range range = {(uintptr_t)text, (uintptr_t)text + sizeof text};
    struct prof_range function = {(uintptr_t)text, (uintptr_t)text + bytes};

    memset(text, 0xcc, sizeof text);
    memcpy(text, code, bytes);
    return prof_prologue_learn(&function, &range);
}

TEST(what_is_learnt_of_a_function)
{
    static const char usual[] = "\x55" W "\x89\xe5\x53\x5b\x5d\xc3";
    static const char leaf[] = "\x85\xc0\x74\x01\x90\xc3";
    static const char late[] = "\x85\xc0\x74\x06\x55" W "\x89\xe5\x5d\xc3";
    static const char pushes[] = "\x53\x85\xc0\x5b\xc3";
    static const char lost[] = "\xff\xe0\x90";

    assert_int_equal(learnt_of(usual, sizeof usual - 1), sizeof("" W) + 2);
    assert_int_equal(learnt_of(leaf, sizeof leaf - 1), PROF_PROLOGUE_LEAF);
    assert_in_range(learnt_of(late, sizeof late - 1), 6, sizeof late - 1);
    assert_int_equal(learnt_of(pushes, sizeof pushes - 1), sizeof pushes - 1);
    assert_int_equal(learnt_of(lost, sizeof lost - 1), PROF_PROLOGUE_UNSURE);
}

TEST(what_is_no_function_is_left_to_the_frame)
{
    struct prof_range empty = {0, 0};
    struct prof_range without_text = {0x1000, 0x2000};

    assert_int_equal(prof_prologue_caller(0x1000, &empty, &empty, 0), FRAME);
    assert_int_equal(prof_prologue_caller(0x1000, &without_text, &empty, 0),
                     FRAME);
    assert_int_equal(prof_prologue_learn(&without_text, &empty),
                     PROF_PROLOGUE_UNSURE);
}

/* Whatever the bytes are: no fault, and an end. */
TEST(any_bytes_have_an_answer)
{
    static uint8_t text[600];
    struct prof_range range = {(uintptr_t)text, (uintptr_t)text + sizeof text};

    for (int turn = 0; turn < 3000; turn++) {
        for (size_t i = 0; i < sizeof text; i++)
            text[i] = (uint8_t)unit_random();
        for (size_t i = 0; i < sizeof text; i += 7)
            prof_prologue_caller((uintptr_t)text + i, &range, &range, 0);
    }
}
