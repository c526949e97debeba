/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The damages. Those that a checksum would notice first come twice: as an
 * accident, and with the checksum made right, as a tool that errs would do it.
 */

#include "damage.h"

#include <arch/cpu.h>
#include <prof/error.h>
#include <prof/symbols.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

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

const struct damage damages[] = {
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
const size_t damage_count = sizeof damages / sizeof damages[0];

void damage_begin(void)
{
    sound = malloc(space_bytes());
    if (sound == NULL)
        abort();
    memcpy(sound, table(), space_bytes());
}

void damage_do(const struct damage *damage)
{
    uintptr_t before = read_cr0();

    write_cr0(before & ~(uintptr_t)CR0_WP);
    damage->change(table());
    write_cr0(before);
}

void damage_undo(void)
{
    uintptr_t before = read_cr0();

    write_cr0(before & ~(uintptr_t)CR0_WP);
    memcpy(table(), sound, space_bytes());
    write_cr0(before);
}
