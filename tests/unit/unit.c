/* SPDX-License-Identifier: Apache-2.0 */

/* main() of every unit test, and the profiler's port for those that need no
 * other (tests/unit/rules.mk): memory is the host's, and what is printed is
 * lost. */

#include "unit.h"

#include <prof/port.h>

struct entry {
    int place;
    const char *name; /* NULL: the fixture of the tests that follow */
    void (*run)(void), (*begin)(void), (*end)(void);
};

static struct entry entries[128];
static size_t count;

uint64_t unit_seed = 1;

/* Steele, Lea and Flood: Fast Splittable Pseudorandom Number Generators. */
uint64_t unit_random(void)
{
    uint64_t z = unit_seed += 0x9e3779b97f4a7c15u;

    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

void unit_add(int place, const char *name, void (*run)(void),
              void (*begin)(void), void (*end)(void))
{
    if (count == COUNT(entries))
        abort();
    entries[count++] = (struct entry){place, name, run, begin, end};
}

static int compare_places(const void *a, const void *b)
{
    return ((const struct entry *)a)->place - ((const struct entry *)b)->place;
}

static void run(void **state)
{
    ((const struct entry *)*state)->run();
}

static int begin(void **state)
{
    const struct entry *entry = *state;

    if (entry->begin != NULL)
        entry->begin();
    return 0;
}

static int end(void **state)
{
    const struct entry *entry = *state;

    if (entry->end != NULL)
        entry->end();
    return 0;
}

__attribute__((weak)) int main(void)
{
    static struct CMUnitTest tests[COUNT(entries)];
    const struct entry *fixture = &(struct entry){0};
    size_t used = 0;

    qsort(entries, count, sizeof entries[0], compare_places);
    for (struct entry *entry = entries; entry < entries + count; ++entry) {
        if (entry->name == NULL) {
            fixture = entry;
            continue;
        }
        entry->begin = fixture->begin;
        entry->end = fixture->end;
        tests[used++] =
            (struct CMUnitTest){entry->name, run, begin, end, entry};
    }
    return _cmocka_run_group_tests("tests", tests, used, NULL, NULL);
}

__attribute__((weak)) void *prof_port_alloc(size_t bytes)
{
    return malloc(bytes);
}

__attribute__((weak)) void prof_port_free(void *memory)
{
    free(memory);
}

__attribute__((weak)) void prof_port_write(const char *text, size_t bytes)
{
    (void)text;
    (void)bytes;
}
