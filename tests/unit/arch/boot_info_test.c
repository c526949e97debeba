/* SPDX-License-Identifier: Apache-2.0 */
/* What loaders say may be more than there is room for: it is counted. */

#include "../unit.h"

#include "../../../arch/x86/boot_info.h"

#include <arch/boot.h>
#include <elf.h>

#define PAGE 4096u
#define MIB (1u << 20)

uint64_t boot_cmos_bytes(void)
{
    return 0;
}

static void nothing(void)
{
    memset(&arch_boot, 0, sizeof arch_boot);
}

FIXTURE(nothing, NULL);

/* Every other page is RAM; in descending order, which is the hardest. */
TEST(too_many_regions_are_counted)
{
    for (unsigned i = ARCH_REGIONS_MAX + 5; i-- > 0;)
        boot_info_usable(MIB + i * 2 * PAGE, PAGE);
    assert_int_equal(arch_boot.region_count, ARCH_REGIONS_MAX);
    assert_int_equal(arch_boot.regions_ignored, 5);
    for (unsigned i = 1; i < ARCH_REGIONS_MAX; i++)
        assert_true(arch_boot.region[i - 1].end < arch_boot.region[i].begin);
}

/* A reserved page in the middle of each of 64 regions would make them 128. */
TEST(holes_do_not_write_beyond_the_table)
{
    for (unsigned i = 0; i < ARCH_REGIONS_MAX; i++)
        boot_info_usable(MIB + i * 4 * PAGE, 3 * PAGE);
    for (unsigned i = 0; i < ARCH_REGIONS_MAX; i++)
        boot_info_reserved(MIB + i * 4 * PAGE + PAGE, PAGE);
    assert_true(arch_boot.region_count <= ARCH_REGIONS_MAX);
    assert_true(arch_boot.regions_ignored > 0);
    for (unsigned i = 1; i < arch_boot.region_count; i++)
        assert_true(arch_boot.region[i - 1].end < arch_boot.region[i].begin);
}

TEST(ranges_that_wrap_around_are_cut)
{
    boot_info_usable(UINT64_MAX - PAGE, UINT64_MAX);
    boot_info_usable(MIB, UINT64_MAX);
    assert_int_equal(arch_boot.region_count, 1);
    assert_true(arch_boot.region[0].end == ARCH_RAM_END);
    assert_int_equal(arch_boot.regions_ignored, 2);
    boot_info_reserved(0, UINT64_MAX);
    assert_int_equal(arch_boot.region_count, 0);
}

/* 6 GiB as QEMU's q35 has them. */
TEST(ranges_above_4_gib_are_kept_where_they_can_be_mapped)
{
    const uint64_t high = (uint64_t)4 << 30;
    const bool wide = ARCH_RAM_END > high;

    boot_info_usable(MIB, 2047u * MIB);
    boot_info_usable(high, high);
    boot_info_module(high + MIB, high + 2 * MIB, "high");
    assert_int_equal(arch_boot.region_count, wide ? 2 : 1);
    assert_int_equal(arch_boot.regions_ignored, wide ? 0 : 1);
    assert_int_equal(arch_boot.module_count, wide ? 1 : 0);
    assert_int_equal(arch_boot.modules_ignored, wide ? 0 : 1);
    if (wide)
        assert_true(arch_boot.region[1].begin == high &&
                    arch_boot.region[1].end == 2 * high);
    boot_info_reserved(high + MIB, PAGE);
    assert_int_equal(arch_boot.region_count, wide ? 3 : 1);
}

TEST(the_last_page_below_4_gib_is_kept_where_it_does_not_overflow)
{
    boot_info_usable(MIB, ((uint64_t)1 << 32) - MIB);
    assert_int_equal(arch_boot.regions_ignored, 0);
    assert_true(arch_boot.region[0].end ==
                (ARCH_RAM_END > UINT32_MAX ? (uint64_t)1 << 32 : ARCH_RAM_END));
}

TEST(too_many_modules_are_counted)
{
    char name[ARCH_MODULE_NAME_MAX * 2];

    memset(name, 'x', sizeof name);
    name[sizeof name - 1] = '\0';
    for (unsigned i = 0; i < ARCH_MODULES_MAX + 3; i++)
        boot_info_module(MIB, 2 * MIB, name);
    boot_info_module(2 * MIB, MIB, NULL);
    assert_int_equal(arch_boot.module_count, ARCH_MODULES_MAX);
    assert_int_equal(arch_boot.modules_ignored, 4);
    for (unsigned i = 0; i < ARCH_MODULES_MAX; i++)
        assert_int_equal(strlen(arch_boot.module[i].name),
                         ARCH_MODULE_NAME_MAX - 1);
}

/* (count) bytes of "key=NUMBER " */
static void line_of(size_t count)
{
    static char line[3 * ARCH_COMMAND_LINE_MAX];

    for (size_t i = 0; i < count; i++)
        line[i] = "prof.hz=100 "[i % 12];
    line[count] = '\0';
    boot_info_command_line(line);
}

TEST(a_line_is_cut_between_words)
{
    line_of(ARCH_COMMAND_LINE_MAX - 1);
    assert_false(arch_boot.command_line_cut);
    assert_int_equal(strlen(arch_boot.command_line), ARCH_COMMAND_LINE_MAX - 1);
    for (size_t more = 0; more < 24; more++) {
        line_of(ARCH_COMMAND_LINE_MAX + more);
        assert_true(arch_boot.command_line_cut);
        assert_string_equal(strrchr(arch_boot.command_line, 'p'),
                            "prof.hz=100 ");
    }
    memset(arch_boot.command_line, 0, sizeof arch_boot.command_line);
    boot_info_command_line(NULL);
    assert_false(arch_boot.command_line_cut);
    assert_string_equal(arch_boot.command_line, "");
}

TEST(a_word_that_is_too_long_is_left_out)
{
    static char line[2 * ARCH_COMMAND_LINE_MAX];

    memset(line, 'x', sizeof line - 1);
    boot_info_command_line(line);
    assert_true(arch_boot.command_line_cut);
    assert_string_equal(arch_boot.command_line, "");
}

/* ---- section headers */

#if UINTPTR_MAX > UINT32_MAX
typedef Elf64_Shdr elf_section;
#else
typedef Elf32_Shdr elf_section;
#endif

#define SECTIONS 4u
#define SYMBOLS 2u
#define STRINGS 3u

/* Code, symbols and strings. */
static elf_section *sections(void)
{
    elf_section *all = calloc(SECTIONS, sizeof *all);

    all[1] = (elf_section){.sh_type = SHT_PROGBITS, .sh_addr = MIB};
    all[SYMBOLS].sh_type = SHT_SYMTAB;
    all[SYMBOLS].sh_addr = 4 * MIB;
    all[SYMBOLS].sh_size = 480;
    all[SYMBOLS].sh_entsize = 24;
    all[SYMBOLS].sh_link = STRINGS;
    all[STRINGS].sh_type = SHT_STRTAB;
    all[STRINGS].sh_addr = 5 * MIB + 3;
    all[STRINGS].sh_size = 100;
    return all;
}

static bool has_symbols(void)
{
    const struct arch_symbols *symbols = &arch_boot.symbols;
    static const struct arch_symbols none;

    if (symbols->table.begin == 0) {
        assert_memory_equal(symbols, &none, sizeof none);
        return false;
    }
    return true;
}

TEST(symbols_are_found_among_the_sections)
{
    elf_section *all = sections();

    boot_info_sections(all, SECTIONS, sizeof *all);
    assert_true(has_symbols());
    assert_int_equal(arch_boot.symbols.table.begin, 4 * MIB);
    assert_int_equal(arch_boot.symbols.table.end, 4 * MIB + 480);
    assert_int_equal(arch_boot.symbols.entry_bytes, 24);
    assert_int_equal(arch_boot.symbols.names.begin, 5 * MIB + 3);
    assert_int_equal(arch_boot.symbols.names.end, 5 * MIB + 103);
    free(all);
}

/* As in a tag of Multiboot 2, and in a newer format. */
TEST(headers_may_be_unaligned_and_larger)
{
    const size_t bytes = sizeof(elf_section) + 12;
    elf_section *all = sections();
    char *larger = calloc(SECTIONS + 1, bytes);

    for (unsigned i = 0; i < SECTIONS; i++)
        memcpy(larger + 4 + i * bytes, &all[i], sizeof *all);
    boot_info_sections(larger + 4, SECTIONS, bytes);
    assert_true(has_symbols());
    free(larger);
    free(all);
}

TEST(damaged_sections_are_no_symbols)
{
    elf_section *all = sections();
    const elf_section symbols = all[SYMBOLS], strings = all[STRINGS];

    boot_info_sections(NULL, SECTIONS, sizeof *all);
    assert_false(has_symbols());
    boot_info_sections(all, SECTIONS, sizeof *all - 4);
    assert_false(has_symbols());
    boot_info_sections(all, SECTIONS, sizeof *all + 1);
    assert_false(has_symbols());
    boot_info_sections(all, 0, sizeof *all);
    assert_false(has_symbols());
    boot_info_sections(all, STRINGS, sizeof *all); /* the strings are not */
    assert_false(has_symbols());
#define DAMAGE(number, field, value)                                           \
    all[number].field = value;                                                 \
    boot_info_sections(all, SECTIONS, sizeof *all);                            \
    assert_false(has_symbols());                                               \
    all[SYMBOLS] = symbols;                                                    \
    all[STRINGS] = strings
    DAMAGE(SYMBOLS, sh_type, SHT_DYNSYM);
    DAMAGE(SYMBOLS, sh_addr, 0);
    DAMAGE(SYMBOLS, sh_addr, PAGE - 1);
    DAMAGE(SYMBOLS, sh_addr, UINTPTR_MAX);
    DAMAGE(SYMBOLS, sh_size, 0);
    DAMAGE(SYMBOLS, sh_size, UINTPTR_MAX);
    DAMAGE(SYMBOLS, sh_size, UINT32_MAX - 4 * MIB);
    DAMAGE(SYMBOLS, sh_link, SECTIONS);
    DAMAGE(SYMBOLS, sh_link, UINT32_MAX);
    DAMAGE(SYMBOLS, sh_link, 1);
    DAMAGE(STRINGS, sh_type, SHT_PROGBITS);
    DAMAGE(STRINGS, sh_addr, 0);
    DAMAGE(STRINGS, sh_size, UINTPTR_MAX);
    boot_info_sections(all, SECTIONS, sizeof *all);
    assert_true(has_symbols());
    free(all);
}
