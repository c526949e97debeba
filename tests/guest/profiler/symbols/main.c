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
#include "damage.h"

#include <arch/boot.h>
#include <kernel/clock.h>
#include <kernel/service.h>
#include <prof/error.h>
#include <prof/prof.h>
#include <prof/symbols.h>
#include <stdarg.h>
#include <stdbool.h>
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

static void test_damage(const struct damage *damage)
{
    char what[128];
    bool reported;

    damage_do(damage);
    catch_begin();
    prof_port_names();
    catching = false;
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
    tap_plan(OWN_TESTS + TESTS_OF_DAMAGE * (unsigned)damage_count + LAST_TESTS);
    test_own_table();
    prof_start();
    damage_begin();
    for (size_t i = 0; i < damage_count; i++) {
        test_damage(&damages[i]);
        damage_undo();
    }
    test_undamaged();
    prof_stop();
    return tap_end();
}
