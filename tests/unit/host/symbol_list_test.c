/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Lists of symbols as nm, /proc/kallsyms and objdump print them, of both
 * widths: which functions they have, and what is said of those that are cut or
 * damaged.
 */

#define _GNU_SOURCE /* memfd_create() */
#include "../unit.h"

#include "image/image.h"

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

static struct image image;
static char why[IMAGE_WHY_MAX];

static void free_image(void)
{
    for (size_t i = 0; i < image.count; ++i)
        free((char *)image.functions[i].name);
    free(image.functions);
    image = (struct image){0};
}

static void start_empty(void)
{
    image = (struct image){0};
    why[0] = '\0';
}

FIXTURE(start_empty, free_image);

/* Reads a list of (bytes). */
static bool read_bytes(const char *list, size_t bytes)
{
    char path[64];
    int file = memfd_create("list", 0);
    bool fine;

    assert_true(file >= 0);
    assert_int_equal(write(file, list, bytes), bytes);
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    free_image();
    fine = image_open_list(&image, path, why);
    close(file);
    return fine;
}

static bool read_list(const char *list)
{
    return read_bytes(list, strlen(list));
}

/* The list has these functions: "START-END NAME" each, one a line. */
static void check(const char *list, const char *wanted)
{
    char text[4096];
    size_t used = 0;

    if (!read_list(list))
        fail_msg("%s", why);
    assert_true(image.is_list);
    text[0] = '\0';
    for (size_t i = 0; i < image.count; ++i) {
        const struct image_symbol *function = &image.functions[i];

        used +=
            (size_t)snprintf(text + used, sizeof text - used, "%llx-%llx %s\n",
                             (unsigned long long)function->start,
                             (unsigned long long)function->end, function->name);
    }
    assert_string_equal(text, wanted);
}

static void check_refused(const char *list, const char *reason)
{
    assert_false(read_list(list));
    if (strstr(why, reason) == NULL)
        fail_msg("'%s' is not in '%s'", reason, why);
}

/* A function ends where the next symbol begins, also where that is data. */
TEST(lists_of_nm)
{
    check("00100020 t second\n"
          "         U missing\n"
          "         w perhaps\n"
          "00000007 A a_constant\n"
          "\n"
          "00100000 T first\n"
          "00100030 D a_datum\n"
          "00100040 W third\n",
          "100000-100020 first\n"
          "100020-100030 second\n"
          "100040-101040 third\n");
    assert_int_equal(image.begin, 0x100000);
    assert_int_equal(image.end, 0x101040);
    check("ffffffff81000010 T second\n"
          "ffffffff81000000 T _first\n"
          "ffffffff81000000 T first\n"
          "ffffffff81000000 t a_local_name",
          "ffffffff81000000-ffffffff81000010 first\n"
          "ffffffff81000010-ffffffff81001010 second\n");
}

TEST(lists_of_kallsyms)
{
    check("0000000000000000 A fixed_percpu_data\n"
          "ffffffff81000000 T _stext\n"
          "ffffffff81000000 T startup_64\n"
          "ffffffff81000100 t helper\n"
          "ffffffff81000200 T _etext\n"
          "ffffffff81800000 D data\n"
          "ffffffffc0000000 t in_module\t[e1000]\n",
          "ffffffff81000000-ffffffff81000100 startup_64\n"
          "ffffffff81000100-ffffffff81000200 helper\n"
          "ffffffff81000200-ffffffff81800000 _etext\n"
          "ffffffffc0000000-ffffffffc0001000 in_module\n");
    assert_int_equal(image.begin, UINT64_C(0xffffffff81000000));
    assert_int_equal(image.end, UINT64_C(0xffffffff81000200));
}

/* nasm's labels, by any of the names of their function. What compilers make of
 * a part of a function is a function. */
TEST(labels_in_assembler_are_no_functions)
{
    check("00100000 T leaf_a\n"
          "0010000c t leaf_a.turn\n"
          "00100010 t leaf_a.1\n"
          "0010001c t leaf_a.end\n"
          "0010001c T leaf_b\n"
          "00100020 t leaf_b.turn\n"
          "00100030 T also_c\n"
          "00100030 T leaf_c\n"
          "00100034 t leaf_c.turn\n"
          "00100038 t also_c.end\n"
          "00100040 t leaf_c.cold\n"
          "00100048 t leaf_c.cold.turn\n"
          "00100050 t leaf_c.part.0\n"
          "00100060 t leaf_c.isra.0.constprop.0\n"
          "00100070 t leaf_a.turn\n"
          "00100080 T leaf_a.global\n"
          "00100090 t .L1\n"
          "00100094 t $x\n",
          "100000-10001c leaf_a\n"
          "10001c-100030 leaf_b\n"
          "100030-100040 also_c\n"
          "100040-100050 leaf_c.cold\n"
          "100050-100060 leaf_c.part.0\n"
          "100060-100070 leaf_c.isra.0.constprop.0\n"
          "100070-100080 leaf_a.turn\n"
          "100080-101094 leaf_a.global\n");
}

/* Where nm says sizes, what has none is a label. */
TEST(lists_of_nm_with_sizes)
{
    check("00100000 00000020 T first\n"
          "00100008 t loop\n"
          "00100020 0000000c t second\n"
          "00100030 T in_assembler\n"
          "00100034 t its_loop\n"
          "00100040 00000004 D a_datum\n",
          "100000-100020 first\n"
          "100020-10002c second\n"
          "100030-100040 in_assembler\n");
}

#define OBJDUMP_32                                                             \
    "\nx.elf:     file format elf32-i386\n\nSYMBOL TABLE:\n"                   \
    "00000000 l    df *ABS*\t00000000 x.c\n"                                   \
    "00100000 l    d  .text\t00000000 .text\n"                                 \
    "00100010 l     F .text\t00000008 second\n"                                \
    "00200000 l     O .data\t00000004 a_datum\n"                               \
    "00100000 g     F .text\t00000010 .hidden first\n"                         \
    "00100004 l       .text\t00000000 loop\n"                                  \
    "00100020 g       .text\t00000000 in_assembler\n"                          \
    "00100028 l       .text\t00000000 in_assembler.turn\n"                     \
    "0010002a l       .text\t00000000 its_loop\n"                              \
    "00100030  w    F .text\t00000008 0x60 third\n"                            \
    "00000000         *UND*\t00000000 missing\n"                               \
    "00000007 g       *ABS*\t00000000 a_constant\n"                            \
    "00300000 g     F .init\t00000004 run(int, char)\n\n"
#define FUNCTIONS_32                                                           \
    "100000-100010 first\n"                                                    \
    "100010-100018 second\n"                                                   \
    "100020-100030 in_assembler\n"                                             \
    "100030-100038 third\n"                                                    \
    "300000-300004 run(int, char)\n"

TEST(lists_of_objdump)
{
    check(OBJDUMP_32, FUNCTIONS_32);
    assert_int_equal(image.begin, 0x100000);
    assert_int_equal(image.end, 0x300004);
    /* without the lines around it */
    check(strstr(OBJDUMP_32, "00000000 l"), FUNCTIONS_32);
    /* the last function states no size: to the next section, or so far */
    check("ffffffff81000000 g       .text\t0000000000000000 first\n"
          "ffffffff81000200 l     O .data\t0000000000000004 a_datum\n",
          "ffffffff81000000-ffffffff81000200 first\n");
    check("ffffffff81000000 g       .text\t0000000000000000 first\r\n",
          "ffffffff81000000-ffffffff81001000 first\n");
}

/* What precedes says where sections end, and which have code. */
TEST(lists_of_objdump_with_all_headers)
{
    static const char list[] =
        "\nx.elf:     file format elf64-x86-64\nx.elf\n"
        "architecture: i386:x86-64, flags 0x00000112:\n"
        "start address 0x0000000000100000\n\nProgram Header:\n"
        "    LOAD off    0x0000000000000000 vaddr 0x0000000000100000\n\n"
        "Sections:\nIdx Name          Size      VMA               LMA     "
        "          File off  Algn\n"
        "  0 .boot         00000040  0000000000100000  0000000000100000  "
        "00001000  2**4\n"
        "                  CONTENTS, ALLOC, LOAD, READONLY, CODE\n"
        "  1 .rodata       00000040  0000000000100040  0000000000100040  "
        "00001040  2**4\n"
        "                  CONTENTS, ALLOC, LOAD, READONLY, DATA\n"
        "SYMBOL TABLE:\n"
        "0000000000100000 g       .boot\t0000000000000000 start\n"
        "0000000000100010 g       .boot\t0000000000000000 go_on\n"
        "0000000000100040 g       .rodata\t0000000000000000 table\n"
        "0000000000100044 g     F .rodata\t0000000000000004 no_code\n\n"
        "RELOCATION RECORDS FOR [.boot]:\nOFFSET TYPE VALUE\n";

    check(list, "100000-100010 start\n100010-100040 go_on\n");
    assert_int_equal(image.begin, 0x100000);
    assert_int_equal(image.end, 0x100040);
}

TEST(what_is_no_list_is_refused_with_the_reason)
{
    static const struct {
        const char *list;
        const char *reason;
    } rows[] = {
        {"", "without a function"},
        {"root:x:0:0:root\n", "not an ELF file, and no list of symbols"},
        {"00100000\n", "not an ELF file"},
        {"00100000 T\n", "not an ELF file"},
        {"00100000 T \n", "not an ELF file"},
        {"00100000 00000010 T\n", "not an ELF file"},
        {"10000000000100000 T too_long\n", "not an ELF file"},
        {"x.o: 00100000 T of_nm_A\n", "not an ELF file"},
        {"of_nm_P T 00100000\n", "not an ELF file"},
        {"00100000 D datum\n", "without a function"},
        {"00000000 T a\n00000000 t b\n", "all addresses are 0"},
        {"00100000 T a\n0010", ":2: the list of symbols is damaged"},
        {"00100000 T a\nwhat\n", "those of nm or /proc/kallsyms"},
        {"00100000 T a\n00100000 g     F .text\t00000004 b\n", ":2:"},
        {"00100000 T a\n\nSYMBOL TABLE:\n", ":3:"},
        {"00100000 g     F .text\t00000004 b\n00100000 T a\n", "of objdump"},
        {"00100000 g     F .text\t00000004 b\n00100004 g  ", ":2:"},
        {"00100000 g     F .text\t00000004 b\n"
         "00100004 g     F .text\t0004 c\n",
         ":2:"},
        {"00100000 g     F .text\t00000004 b\n"
         "00100004 q     F .text\t00000004 c\n",
         ":2:"},
        {"x:     file format elf32-i386\n\nSYMBOL TABLE:\nno symbols\n\n",
         "without a function"},
        {"x:     file format elf32-i386\n", "without a function"},
    };

    for (size_t i = 0; i < COUNT(rows); ++i)
        check_refused(rows[i].list, rows[i].reason);
    assert_false(read_bytes("00100000 T a\0\n", 14));
}

/* Wherever a list is cut or changed, it is refused or has functions that are
 * in order. */
TEST(lists_that_are_cut_or_damaged_do_no_harm)
{
    char list[sizeof OBJDUMP_32];

    for (unsigned i = 0; i < 20000; ++i) {
        size_t bytes = unit_below(sizeof list - 1);

        memcpy(list, OBJDUMP_32, sizeof list);
        for (unsigned k = unit_below(3); k > 0; --k)
            list[unit_below(sizeof list - 1)] =
                "0 fF\t\n*g\xff"[unit_below(10)];
        if (!read_bytes(list, bytes))
            assert_true(why[0] != '\0');
        for (size_t k = 0; k < image.count; ++k) {
            assert_true(image.functions[k].start < image.functions[k].end);
            assert_true(k == 0 ||
                        image.functions[k - 1].end <= image.functions[k].start);
        }
    }
}
