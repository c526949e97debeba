/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The names that an image carries, as they are found when it runs: its own
 * table must be sound and right for every address of the code; and a damaged
 * one must be reported in one line, after which reports show addresses.
 *
 * The table is damaged where it lies, in pages that are not writable, with the
 * CPU's write protection off; then it is opened as at boot. What the kernel and
 * the profiler print meanwhile is caught by the linker's --wrap (ldflags).
 */

#include "guest/tap.h"
#include "guest/wraps.h"

#include <arch/boot.h>
#include <arch/cpu.h>
#include <kernel/clock.h>
#include <kernel/service.h>
#include <prof/error.h>
#include <prof/prof.h>
#include <prof/symbols.h>
#include <prof/symtab.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The space of this image: not the default. */
#define SPACE_BYTES 40960u
PROF_SYMBOLS_RESERVE(SPACE_BYTES);

#define SPIN_NS 20000000u
#define TICKS_MIN 40 /* a row of fewer than 16 samples ends in its interval */

/* The step of the kernel's boot that opens the table. */
void prof_port_names(void);

#define OWN_TESTS 8
#define TESTS_OF_DAMAGE 3
#define LAST_TESTS 2

static int variable; /* something that is no code */

/* ---- what is printed while (catching) */

void __wrap_console_line(const char *format, ...);

static bool catching;
static char caught[8192];
static size_t caught_bytes;
static unsigned caught_lines; /* of the kernel's */

static void catch_text(const char *text, size_t bytes)
{
    size_t room = sizeof caught - 1 - caught_bytes;

    if (bytes > room)
        bytes = room;
    memcpy(caught + caught_bytes, text, bytes);
    caught_bytes += bytes;
    caught[caught_bytes] = '\0';
}

static void catch_begin(void)
{
    catching = true;
    caught[0] = '\0';
    caught_bytes = 0;
    caught_lines = 0;
}

void __wrap_prof_port_write(const char *text, size_t bytes)
{
    if (catching)
        catch_text(text, bytes);
    else
        __real_prof_port_write(text, bytes);
}

void __wrap_console_line(const char *format, ...)
{
    char line[256];
    va_list words;

    va_start(words, format);
    vsnprintf(line, sizeof line, format, words);
    va_end(words);
    if (catching) {
        catch_text(line, strlen(line));
        caught_lines++;
    } else {
        __real_prof_port_write(line, strlen(line));
        __real_prof_port_write("\n", 1);
    }
}

/* ---- the image's own table */

static const struct prof_symtab *own_table(void)
{
    return prof_symbols_in_image();
}

static const void *at_of_table(uint32_t at)
{
    return (const char *)own_table() + at;
}

static const uint32_t *own_offsets(void)
{
    return at_of_table(own_table()->offsets_at);
}

static const uint8_t *own_gaps(void)
{
    return at_of_table(own_table()->gaps_at);
}

static bool found_as(uintptr_t address, uint32_t index)
{
    const struct prof_symtab *head = own_table();
    struct prof_symbol found;

    return prof_symbol_find(address, &found) && found.index == index &&
           found.start == head->base + own_offsets()[index];
}

/* Every address of the code, against a walk along the table. */
static bool every_address_is_right(void)
{
    const struct prof_symtab *head = own_table();
    const uint32_t *offsets = own_offsets();
    const uint8_t *gaps = own_gaps();
    uint32_t i = 0;

    for (uintptr_t at = (uintptr_t)text_begin; at < (uintptr_t)text_end; at++) {
        struct prof_symbol found;
        uintptr_t key = at - (uintptr_t)head->base;

        while (i + 1 < head->count && offsets[i + 1] <= key)
            i++;
        if (gaps[i] != PROF_SYMTAB_HOLE && key >= offsets[i] &&
            key + gaps[i] < offsets[i + 1]) {
            if (!found_as(at, i))
                return false;
        } else if (prof_symbol_find(at, &found)) {
            return false;
        }
    }
    return true;
}

static bool is_named(uintptr_t address, const char *name)
{
    struct prof_symbol found;
    char text[64];

    return prof_symbol_find(address, &found) && found.start == address &&
           prof_symbol_name(&found, text, sizeof text) == strlen(name) &&
           strcmp(text, name) == 0;
}

/* Every function's name: the same in any room, and with an end. */
static bool every_name_is_whole(void)
{
    static char name[1024], cut[1024];
    struct prof_symbol symbol = {0};

    for (; symbol.index < own_table()->count; symbol.index++) {
        size_t bytes = prof_symbol_name(&symbol, name, sizeof name);
        bool hole = own_gaps()[symbol.index] == PROF_SYMTAB_HOLE;

        if (bytes >= sizeof name || strlen(name) != bytes ||
            (bytes == 0) != hole)
            return false;
        if (prof_symbol_name(&symbol, cut, bytes / 2 + 1) != bytes ||
            strlen(cut) != bytes / 2 || strncmp(cut, name, bytes / 2) != 0)
            return false;
    }
    return true;
}

static bool is_unknown(const void *address)
{
    struct prof_symbol found;

    return !prof_symbol_find((uintptr_t)address, &found);
}

static void test_own_table(void)
{
    tap_ok(prof_symbols_error() == PROF_OK, "the table was sound at boot");
    tap_ok(prof_symbols_space.bytes == SPACE_BYTES,
           "it is in the space that this program reserves");
    tap_ok(prof_symbols_count() > 100, "it has the image's functions");
    tap_ok(every_address_is_right(), "each address of the code is its "
                                     "function's, or no one's");
    tap_ok(is_named((uintptr_t)service_main, "service_main") &&
               is_named((uintptr_t)prof_report, "prof_report") &&
               is_named((uintptr_t)prof_port_names, "prof_port_names"),
           "C functions have their names");
    tap_ok(is_named((uintptr_t)snprintf, "snprintf"), "the C library's too");
    tap_ok(every_name_is_whole(), "every name is whole, or cut where asked");
    tap_note("%u entries, %u bytes, names %s", (unsigned)own_table()->count,
             (unsigned)own_table()->total_bytes,
             own_table()->tokens_bytes != 0 ? "packed" : "raw");
    tap_ok(is_unknown(NULL) && is_unknown(image_begin) &&
               is_unknown(&variable) && is_unknown(own_table()) &&
               is_unknown((void *)UINTPTR_MAX),
           "what is no code has no name");
}

/* ---- the same table, damaged */

/* Uses up time in a function that the report must show: here. */
static __attribute__((noinline)) void spin(void)
{
    uint64_t end = clock_ns() + SPIN_NS;

    while (clock_ns() < end) {
        for (volatile unsigned turns = 0; turns < 1000; turns++)
            continue;
    }
}

/* A report about the code that runs here, caught. A busy host may keep ticks
   back, so it waits for some. */
static void catch_report(void)
{
    struct prof_stats stats;

    prof_reset();
    do {
        spin();
        prof_drain();
        prof_stats(&stats);
    } while (stats.ticks < TICKS_MIN);
    catch_begin();
    prof_report();
    catching = false;
}

/* Whether a caught row shows an address where a name would stand. */
static bool shows_addresses(void)
{
    const char *row = strstr(caught, "  0x");
    const char *end = row != NULL ? strchr(row, '\n') : NULL;
    const char *name = row != NULL ? strstr(row + 4, "  0x") : NULL;

    return name != NULL && name < end;
}

/* ---- damages
 *
 * Those that a checksum would notice first come twice: as an accident, and with
 * the checksum made right, as a tool that errs would do it.
 */

struct damage {
    const char *what; /* in words, for the test's name */
    int error;        /* what opening it must return */
    void (*change)(struct prof_symtab *head);
};

#define CR0_WP (1u << 16) /* write protection holds for the kernel as well */

static void *sound; /* copy of the whole space */

static size_t space_bytes(void)
{
    return prof_symbols_space.bytes;
}

static struct prof_symtab *table(void)
{
    return (struct prof_symtab *)(uintptr_t)prof_symbols_in_image();
}

static uint32_t *words(struct prof_symtab *head, uint32_t at)
{
    return (uint32_t *)(void *)((char *)head + at);
}

static uintptr_t read_cr0(void)
{
    uintptr_t value;

    __asm__ volatile("mov %%cr0, %0" : "=r"(value));
    return value;
}

static void write_cr0(uintptr_t value)
{
    __asm__ volatile("mov %0, %%cr0" : : "r"(value) : "memory");
}

/* Makes the checksum right, by its definition. */
static void seal(struct prof_symtab *head)
{
    const uint8_t *bytes = (const uint8_t *)head;
    uint32_t crc = 0xffffffffu;

    head->crc = 0;
    for (uint32_t i = 0; i < head->total_bytes; i++) {
        crc ^= bytes[i];
        for (int bit = 0; bit < 8; bit++)
            crc = (crc >> 1) ^ (0x82f63b78u & -(crc & 1u));
    }
    head->crc = ~crc;
}

static void cut_short(struct prof_symtab *head)
{
    head->total_bytes += (uint32_t)space_bytes();
}

static void half_missing(struct prof_symtab *head)
{
    uint32_t half = head->total_bytes / 2;

    memset((char *)head + half, 0, head->total_bytes - half);
}

static void all_zero(struct prof_symtab *head)
{
    memset(head, 0, space_bytes());
}

static void no_table(struct prof_symtab *head)
{
    head->magic++;
}

static void one_bit(struct prof_symtab *head)
{
    words(head, head->offsets_at)[head->count / 2] ^= 1;
}

static void unsorted(struct prof_symtab *head)
{
    uint32_t *offsets = words(head, head->offsets_at);
    uint32_t first = offsets[4];

    offsets[4] = offsets[5];
    offsets[5] = first;
    seal(head);
}

static void overlapping(struct prof_symtab *head)
{
    uint8_t *gaps = (uint8_t *)head + head->gaps_at;
    const uint32_t *offsets = words(head, head->offsets_at);
    uint32_t i = 0;

    while (offsets[i + 1] - offsets[i] >= PROF_SYMTAB_HOLE)
        i++;
    gaps[i] = (uint8_t)(offsets[i + 1] - offsets[i]);
    seal(head);
}

static void led_astray(struct prof_symtab *head)
{
    words(head, head->firsts_at)[head->firsts_count - 1] = head->count;
    seal(head);
}

static void without_end(struct prof_symtab *head)
{
    head->names_bytes--;
    seal(head);
}

static void name_outside(struct prof_symtab *head)
{
    words(head, head->marks_at)[(head->count - 1) / PROF_SYMTAB_BLOCK] =
        0xfffffff0u;
    seal(head);
}

static void name_of_nothing(struct prof_symtab *head)
{
    ((uint8_t *)head)[head->names_at + 2] = '\0';
    seal(head);
}

static void array_outside(struct prof_symtab *head)
{
    head->gaps_at = head->total_bytes & ~3u;
    seal(head);
}

static void other_width(struct prof_symtab *head)
{
    head->pointer_bits = 96 - head->pointer_bits;
    seal(head);
}

static const struct damage damages[] = {
    {"a table cut short", PROF_ESYM_SHORT, cut_short},
    {"a table with half of it missing", PROF_ESYM_CRC, half_missing},
    {"space that was not filled", PROF_ESYM_NONE, all_zero},
    {"something that is no table", PROF_ESYM_MAGIC, no_table},
    {"a wrong checksum", PROF_ESYM_CRC, one_bit},
    {"an unsorted table", PROF_ESYM_ORDER, unsorted},
    {"functions that overlap", PROF_ESYM_ORDER, overlapping},
    {"an index that misses functions", PROF_ESYM_INDEX, led_astray},
    {"a name without end", PROF_ESYM_NAME, without_end},
    {"a name outside the names", PROF_ESYM_NAME, name_outside},
    {"a name of nothing", PROF_ESYM_NAME, name_of_nothing},
    {"an array outside the table", PROF_ESYM_LAYOUT, array_outside},
    {"a table of another width", PROF_ESYM_WIDTH, other_width},
};

#define DAMAGES (sizeof damages / sizeof *damages)

static void damage_begin(void)
{
    sound = malloc(space_bytes());
    if (sound == NULL)
        abort();
    memcpy(sound, table(), space_bytes());
}

static void damage_do(const struct damage *damage)
{
    uintptr_t before = read_cr0();

    write_cr0(before & ~(uintptr_t)CR0_WP);
    damage->change(table());
    write_cr0(before);
}

static void damage_undo(void)
{
    uintptr_t before = read_cr0();

    write_cr0(before & ~(uintptr_t)CR0_WP);
    memcpy(table(), sound, space_bytes());
    write_cr0(before);
}

/* GRUB's copy of the ELF symbol table is used where the space is empty; not
 * where it is damaged. */
static void test_loaders_names(const struct damage *damage)
{
    char what[128];

    snprintf(what, sizeof what, "%s: the loader's names, in one line",
             damage->what);
    tap_ok(caught_lines == 1 &&
               strstr(caught, "from the loader's symbol table") != NULL,
           what);
    snprintf(what, sizeof what, "%s: functions have them", damage->what);
    tap_ok(prof_symbols_error() == PROF_OK &&
               is_named((uintptr_t)service_main, "service_main"),
           what);
    catch_report();
    snprintf(what, sizeof what, "%s: the report has them", damage->what);
    tap_ok(!shows_addresses() && strstr(caught, "  spin\n") != NULL, what);
}

static void test_damage(const struct damage *damage)
{
    char what[128];
    bool reported;

    damage_do(damage);
    catch_begin();
    prof_port_names();
    catching = false;
    if (damage->error == PROF_ESYM_NONE && arch_boot.symbols.table.begin != 0) {
        test_loaders_names(damage);
        return;
    }
    reported = caught_lines == 1 && strchr(caught, '\n') == NULL &&
               strstr(caught, prof_strerror(damage->error)) != NULL;
    snprintf(what, sizeof what, "%s: reported in one line", damage->what);
    tap_ok(reported && prof_symbols_error() == damage->error, what);
    if (!reported)
        tap_note("%s", caught);
    snprintf(what, sizeof what, "%s: nothing has a name", damage->what);
    tap_ok(prof_symbols_count() == 0 &&
               !is_named((uintptr_t)service_main, "service_main"),
           what);
    catch_report();
    snprintf(what, sizeof what, "%s: the report shows addresses", damage->what);
    tap_ok(shows_addresses(), what);
}

static void test_undamaged(void)
{
    catch_begin();
    prof_port_names();
    catching = false;
    tap_ok(caught_lines == 0 && prof_symbols_error() == PROF_OK,
           "a sound table again: nothing to report");
    catch_report();
    tap_ok(!shows_addresses() && strstr(caught, "  spin\n") != NULL,
           "and the report has names again");
}

int service_main(void)
{
    tap_plan(OWN_TESTS + TESTS_OF_DAMAGE * DAMAGES + LAST_TESTS);
    test_own_table();
    prof_start();
    damage_begin();
    for (size_t i = 0; i < DAMAGES; i++) {
        test_damage(&damages[i]);
        damage_undo();
    }
    test_undamaged();
    prof_stop();
    return tap_end();
}
