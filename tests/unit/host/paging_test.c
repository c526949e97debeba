/* SPDX-License-Identifier: Apache-2.0 */

/* Page tables of every form, walked in a small memory. */

#include "../unit.h"

#include "machine/paging.h"

#define PG (1u << 31)
#define PSE (1u << 4)
#define PAE (1u << 5)
#define LA57 (1u << 12)
#define LMA (1u << 10)
#define P 1u
#define PS 0x80u

static uint8_t memory[0x8000];

static void put(uint64_t table, unsigned index, unsigned bytes, uint64_t entry)
{
    for (unsigned i = 0; i < bytes; ++i)
        memory[table + index * bytes + i] = (uint8_t)(entry >> (8 * i));
}

static bool copy(void *owner, uint64_t physical, uint8_t *to, size_t bytes)
{
    (void)owner;
    if (physical + bytes > sizeof memory)
        return false;
    memcpy(to, memory + physical, bytes);
    return true;
}

static const struct paging_memory reader = {copy, NULL};

static void check(const struct registers *registers, uint64_t address,
                  uint64_t wanted, uint64_t bytes)
{
    uint64_t physical, left;

    assert_true(
        paging_translate(registers, &reader, address, &physical, &left));
    assert_true(physical == wanted);
    assert_true(left == bytes);
}

static void check_none(const struct registers *registers, uint64_t address)
{
    uint64_t physical, left;

    assert_false(
        paging_translate(registers, &reader, address, &physical, &left));
}

static void clear(void)
{
    memset(memory, 0, sizeof memory);
}

FIXTURE(clear, NULL);

TEST(without_paging_addresses_are_physical)
{
    const struct registers registers = {.cr0 = 1};

    check(&registers, 0x12345678, 0x12345678, 0x988);
    check(&registers, 0x100001000, 0x1000, 0x1000);
}

TEST(two_levels)
{
    struct registers registers = {.cr0 = PG | 1, .cr3 = 0x1018};

    put(0x1000, 1, 4, 0x2000 | P);
    put(0x2000, 3, 4, 0xabcde000 | P | PS); /* not a size here */
    put(0x1000, 2, 4, 0x00c00000 | 5u << 13 | PS | P);
    put(0x1000, 4, 4, 0x2000); /* not present */
    put(0x1000, 5, 4, 0xfffff000 | P);
    check(&registers, 0x403010, 0xabcde010, 0xff0);
    check_none(&registers, 0x404000);
    check_none(&registers, 0x1000000);
    check_none(&registers, 0x1400000);
    check_none(&registers, 0x800000); /* a table at 0xc00000 */
    registers.cr4 = PSE;
    check(&registers, 0x812345, 0x500c12345, 0x400000 - 0x12345);
}

TEST(pae)
{
    const struct registers registers = {
        .cr0 = PG | 1, .cr3 = 0x1020, .cr4 = PAE};

    put(0x1020, 3, 8, 0x2000 | P);
    put(0x2000, 511, 8, 0x3000 | P);
    put(0x3000, 510, 8, 0x8000000123456000 | P);
    put(0x2000, 1, 8, 0x7ffe00000 | PS | P);
    check(&registers, 0xffffe123, 0x123456123, 0xedd);
    check(&registers, 0xc0212345, 0x7ffe12345, 0x200000 - 0x12345);
    check_none(&registers, 0x1000);
}

TEST(four_levels)
{
    const struct registers registers = {
        .cr0 = PG | 1, .cr3 = 0x1000, .cr4 = PAE, .efer = LMA};

    put(0x1000, 511, 8, 0x2000 | P);
    put(0x2000, 510, 8, 0x3000 | P);
    put(0x2000, 509, 8, 0x40000000 | PS | P);
    put(0x3000, 1, 8, 0x4000 | P);
    put(0x3000, 2, 8, 0x1234600000 | PS | P);
    put(0x4000, 7, 8, 0xfff0000abc000000 | P);
    check(&registers, 0xffffffff80207008, 0xabc000008, 0xff8);
    check(&registers, 0xffffffff80412345, 0x1234612345, 0x200000 - 0x12345);
    check(&registers, 0xffffffff40123456, 0x40123456, 0x40000000 - 0x123456);
    check_none(&registers, 0x80207008);
}

TEST(reads_go_on_over_pages)
{
    const struct registers registers = {
        .cr0 = PG | 1, .cr3 = 0x1000, .cr4 = PAE, .efer = LMA};
    uint8_t read[16];

    put(0x1000, 0, 8, 0x2000 | P);
    put(0x2000, 0, 8, 0x3000 | P);
    put(0x3000, 0, 8, 0x4000 | P);
    put(0x4000, 1, 8, 0x7000 | P);
    put(0x4000, 2, 8, 0x5000 | P);
    put(0x4000, 4, 8, 0x7000 | P);
    memory[0x7fff] = 1;
    memory[0x5000] = 2;
    assert_true(paging_read(&registers, &reader, 0x1ff8, read, 16) == 16);
    assert_true(read[7] == 1 && read[8] == 2);
    assert_true(paging_read(&registers, &reader, 0x4ff8, read, 16) == 8);
    assert_true(paging_read(&registers, &reader, 0x3000, read, 16) == 0);
}

TEST(five_levels)
{
    const struct registers registers = {
        .cr0 = PG | 1, .cr3 = 0x5000, .cr4 = PAE | LA57, .efer = LMA};

    put(0x5000, 1, 8, 0x1000 | P);
    put(0x1000, 2, 8, 0x2000 | P);
    put(0x2000, 0, 8, 0x3000 | P);
    put(0x3000, 0, 8, 0x4000 | P);
    put(0x4000, 0, 8, 0x6000 | P);
    check(&registers, 0x1010000000010, 0x6010, 0xff0);
    check_none(&registers, 0x10000000010);
}
