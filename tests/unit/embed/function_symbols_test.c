/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One rule names addresses: it chooses among aliases as it says, and the table
 * that is embedded for the guest and the report that the host prints of the
 * same image have the same name for every address.
 */

#include "../unit.h"

#include <prof/error.h>
#include <prof/symbols.h>

#include "symbols/function_symbols.h"
#include "../host/stream_maker.h"
#include "embed_runner.h"

#define STRIDE 4u /* bytes between the addresses that are compared */
#define ADDRESSES (ELF_TEXT_BYTES / STRIDE)
#define LIMIT (ELF_TEXT + ELF_TEXT_BYTES)

TEST(the_better_name_comes_first)
{
    /* each pair: the first names the function */
    static const struct function pairs[][2] = {
        {{1, 0, 9, "zz", BINDING_LOCAL, false},
         {1, 8, 9, "a", BINDING_GLOBAL, true}},
        {{1, 1, 9, "zz", BINDING_LOCAL, false},
         {1, 0, 9, "a", BINDING_GLOBAL, false}},
        {{1, 8, 9, "zz", BINDING_GLOBAL, false},
         {1, 8, 9, "a", BINDING_WEAK, false}},
        {{1, 8, 9, "zz", BINDING_WEAK, false},
         {1, 8, 9, "a", BINDING_LOCAL, false}},
        {{1, 8, 9, "zz", BINDING_WEAK, false},
         {1, 8, 9, "_", BINDING_WEAK, false}},
        {{1, 8, 9, "z", BINDING_WEAK, false},
         {1, 8, 9, "aa", BINDING_WEAK, false}},
        {{1, 8, 9, "a", BINDING_WEAK, false},
         {1, 8, 9, "b", BINDING_WEAK, false}},
        {{0, 8, 9, "later", BINDING_WEAK, true},
         {1, 8, 9, "a", BINDING_GLOBAL, false}},
    };

    for (size_t i = 0; i < COUNT(pairs); ++i) {
        assert_true(function_compare(&pairs[i][0], &pairs[i][1]) < 0);
        assert_true(function_compare(&pairs[i][1], &pairs[i][0]) > 0);
        assert_int_equal(function_compare(&pairs[i][0], &pairs[i][0]), 0);
    }
}

TEST(the_chosen_do_not_overlap)
{
    static const struct function all[] = {
        {0x00, 0x20, 0x80, "long", BINDING_GLOBAL, false},
        {0x00, 0x30, 0x80, "alias", BINDING_WEAK, false},
        {0x10, 0x08, 0x80, "inner", BINDING_LOCAL, false},
        {0x14, 0x00, 0x80, "position", BINDING_GLOBAL, true},
        {0x40, 0x00, 0x80, "open", BINDING_GLOBAL, true},
        {0x48, 0x00, 0x80, "loop", BINDING_LOCAL, true},
        {0x60, 0x99, 0x80, "beyond", BINDING_LOCAL, false},
    };
    static const struct {
        const char *name;
        uint64_t start, size;
    } wanted[] = {{"long", 0x00, 0x10},
                  {"inner", 0x10, 0x08},
                  {"open", 0x40, 0x20},
                  {"beyond", 0x60, 0x20}};
    struct function chosen[COUNT(all)];

    assert_int_equal(functions_choose(all, COUNT(all), chosen), COUNT(wanted));
    for (size_t i = 0; i < COUNT(wanted); ++i) {
        assert_string_equal(chosen[i].name, wanted[i].name);
        assert_int_equal(chosen[i].start, wanted[i].start);
        assert_int_equal(chosen[i].size, wanted[i].size);
    }
}

#define SYMBOL(name, value, size, type, binding)                               \
    {                                                                          \
        name, ELF_TEXT + (value), size, type, binding, ELF_IN_TEXT             \
    }

/* Aliases of every kind, overlaps, gaps, and what is no function. */
static const struct elf_symbol aliased[] = {
    SYMBOL("__start", 0x000, 0x40, STT_FUNC, STB_GLOBAL),
    SYMBOL("start", 0x000, 0x30, STT_FUNC, STB_GLOBAL),
    SYMBOL("go", 0x000, 0x80, STT_FUNC, STB_LOCAL),
    SYMBOL("weak_but_large", 0x080, 0x60, STT_FUNC, STB_WEAK),
    SYMBOL("strong", 0x080, 0x20, STT_FUNC, STB_GLOBAL),
    SYMBOL("a_label", 0x080, 0, STT_NOTYPE, STB_GLOBAL),
    SYMBOL("inner", 0x090, 0x08, STT_FUNC, STB_LOCAL),
    SYMBOL("position", 0x094, 0, STT_NOTYPE, STB_GLOBAL),
    SYMBOL("unsized", 0x100, 0, STT_FUNC, STB_GLOBAL),
    SYMBOL("sized", 0x100, 0x10, STT_FUNC, STB_LOCAL),
    SYMBOL("from_assembly", 0x140, 0, STT_NOTYPE, STB_GLOBAL),
    SYMBOL("loop", 0x148, 0, STT_NOTYPE, STB_LOCAL),
    SYMBOL("from_assembly.inner", 0x14c, 0, STT_NOTYPE, STB_LOCAL),
    SYMBOL("$x", 0x150, 0, STT_NOTYPE, STB_LOCAL),
    SYMBOL("data_in_code", 0x160, 0x10, STT_OBJECT, STB_GLOBAL),
    SYMBOL("chosen_at_boot", 0x180, 0x10, STT_GNU_IFUNC, STB_GLOBAL),
    SYMBOL("chosen_at_boot_", 0x180, 0x40, STT_FUNC, STB_GLOBAL),
    SYMBOL("abc", 0x200, 0x40, STT_FUNC, STB_GLOBAL),
    SYMBOL("abd", 0x200, 0x20, STT_FUNC, STB_GLOBAL),
    SYMBOL("part.0", 0x220, 0x10, STT_FUNC, STB_LOCAL),
    SYMBOL("last", 0x300, 0, STT_FUNC, STB_GLOBAL),
    {"end", LIMIT, 0, STT_NOTYPE, STB_GLOBAL, ELF_IN_TEXT},
    {"absolute", ELF_TEXT + 0x20, 0, STT_NOTYPE, STB_GLOBAL, SHN_ABS},
};

/* Writes a trace with one sample at each address, as "b.elf". */
static void write_trace(void)
{
    struct made *made = calloc(1, sizeof *made);

    assert_non_null(made);
    made->packet_room = 4096;
    made->step = 10000;
    made_hello(made, 8 * sizeof(void *));
    made_start(made, 1000000, 64);
    for (uint32_t i = 0; i < ADDRESSES; ++i) {
        made_node(made, i + 1, 0, ELF_TEXT + STRIDE * i);
        made_sample(made, i + 1);
    }
    made_flush(made);
    write_file("b.elf", made->bytes, made->count);
    free(made->bytes);
    free(made);
}

/* What the guest's table calls (address), or the address itself. */
static const char *guest_name(uintptr_t address)
{
    static char text[256];
    struct prof_symbol found;

    if (prof_symbol_find(address, &found))
        prof_symbol_name(&found, text, sizeof text);
    else
        snprintf(text, sizeof text, "0x%lx", (unsigned long)address);
    return text;
}

/* Compares each sample that `parasite script` prints, a line with a tab, with
 * the table; returns how many there were. */
static unsigned compare_all(void)
{
    char command[256], line[512];
    unsigned count = 0;
    FILE *pipe;

    snprintf(command, sizeof command,
             "build/host/parasite script -k %s -i %s 2>/dev/null",
             in_folder("a.elf"), in_folder("b.elf"));
    pipe = popen(command, "r");
    assert_non_null(pipe);
    while (fgets(line, sizeof line, pipe) != NULL) {
        if (line[0] != '\t')
            continue;
        line[strcspn(line, "\n")] = '\0';
        assert_string_equal(line + 1, guest_name(ELF_TEXT + STRIDE * count));
        ++count;
    }
    assert_int_equal(WEXITSTATUS(pclose(pipe)), 0);
    return count;
}

FIXTURE(make_folder, remove_folder);

TEST(guest_and_host_name_each_address_alike)
{
    struct elf_plan plan = plan_of(aliased, COUNT(aliased));
    size_t bytes;
    void *table;

    write_elf("a.elf", &plan);
    assert_int_equal(run("a.elf out"), 0);
    table = read_file("out", &bytes);
    assert_int_equal(prof_symbols_open(table, bytes, NULL, 0), PROF_OK);
    write_trace();
    assert_int_equal(compare_all(), ADDRESSES);
    assert_string_equal(guest_name(ELF_TEXT), "start");
    assert_string_equal(guest_name(ELF_TEXT + 0x80), "strong");
    assert_string_equal(guest_name(ELF_TEXT + 0x148), "from_assembly");
    free(table);
}
