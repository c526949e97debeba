/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The firmware's tables, made here below 4 GiB as the reader wants them: found
 * by either root, listed as QEMU does, and as if they were not there where they
 * are damaged. What AML says of devices, as QEMU's microvm writes it, and any
 * bytes instead.
 */

#include "../unit.h"

#include "../../../drivers/acpi.h"
#include "../../../drivers/aml.h"

#include <stdlib.h>
#include <sys/mman.h>

#define ROOM 65536u
#define HEADER sizeof(struct acpi_table)

static uint8_t *memory; /* the root pointer, then tables */
static size_t used;

static void make_room(void)
{
    if (memory == NULL)
        memory = mmap(NULL, ROOM, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
    assert_true(memory != MAP_FAILED);
    memset(memory, 0, ROOM);
    used = 64;
    (void)acpi_start((uintptr_t)memory); /* no tables yet */
}

FIXTURE(make_room, NULL);

static void put(uint8_t *at, uint64_t value, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++)
        at[i] = (uint8_t)(value >> 8 * i);
}

static void make_sum(uint8_t *at, size_t bytes, size_t where)
{
    uint8_t sum = 0;

    at[where] = 0;
    for (size_t i = 0; i < bytes; i++)
        sum = (uint8_t)(sum + at[i]);
    at[where] = (uint8_t)-sum;
}

static uint8_t *table(const char *signature, const void *body, size_t bytes)
{
    uint8_t *at = memory + used;

    memcpy(at, signature, 4);
    put(at + 4, HEADER + bytes, 4);
    memcpy(at + HEADER, body, bytes);
    make_sum(at, HEADER + bytes, 9);
    used += (HEADER + bytes + 15) / 16 * 16;
    return at;
}

/* The root, by XSDT if (wide), and whether it is taken. */
static bool root(bool wide, uint8_t *const *tables, unsigned count)
{
    const unsigned each = wide ? 8 : 4;
    uint8_t list[64] = {0};
    uint8_t *at;

    for (unsigned i = 0; i < count; i++)
        put(list + i * each, (uintptr_t)tables[i], each);
    at = table(wide ? "XSDT" : "RSDT", list, (size_t)count * each);
    memcpy(memory, "RSD PTR ", 8);
    memory[15] = wide ? 2 : 0;
    put(memory + (wide ? 24 : 16), (uintptr_t)at, each);
    put(memory + 20, 36, 4);
    make_sum(memory, 20, 8);
    make_sum(memory, 36, 32);
    return acpi_start((uintptr_t)memory);
}

TEST(tables_are_found_by_either_root)
{
    for (int wide = 0; wide < 2; wide++) {
        uint8_t *tables[3];

        make_room();
        tables[0] = table("SSDT", "one", 3);
        tables[1] = table("HPET", "two", 3);
        tables[2] = table("SSDT", "six", 3);
        assert_true(root(wide != 0, tables, 3));
        assert_ptr_equal(acpi_find("SSDT", NULL), tables[0]);
        assert_ptr_equal(acpi_find("SSDT", (void *)tables[0]), tables[2]);
        assert_null(acpi_find("SSDT", (void *)tables[2]));
        assert_ptr_equal(acpi_find("HPET", NULL), tables[1]);
        assert_null(acpi_find("APIC", NULL));
        assert_null(acpi_dsdt());
    }
}

TEST(damaged_tables_are_not_there)
{
    uint8_t *tables[2];

    tables[0] = table("HPET", "two", 3);
    tables[1] = table("SSDT", "one", 3);
    assert_true(root(true, tables, 2));
    tables[0][HEADER]++; /* its sum is wrong */
    assert_null(acpi_find("HPET", NULL));
    assert_non_null(acpi_find("SSDT", NULL));
    put(tables[1] + 4, HEADER - 1, 4); /* shorter than a header */
    make_sum(tables[1], HEADER - 1, 9);
    assert_null(acpi_find("SSDT", NULL));
    put(tables[1] + 4, UINT32_MAX, 4); /* longer than memory */
    assert_null(acpi_find("SSDT", NULL));
    memory[24]++; /* the root's: not the XSDT's address */
    assert_false(acpi_start((uintptr_t)memory));
    assert_null(acpi_find("SSDT", NULL));
}

/* By the same entry again at once, and after another table. */
TEST(tables_that_are_listed_twice_are_found_once)
{
    for (int wide = 0; wide < 2; wide++) {
        uint8_t *tables[5];

        make_room();
        tables[0] = tables[1] = tables[3] = table("SSDT", "one", 3);
        tables[2] = tables[4] = table("SSDT", "two", 3);
        assert_true(root(wide != 0, tables, 5));
        assert_ptr_equal(acpi_find("SSDT", NULL), tables[0]);
        assert_ptr_equal(acpi_find("SSDT", (void *)tables[0]), tables[2]);
        assert_null(acpi_find("SSDT", (void *)tables[2]));
    }
}

/* Reading there would be a page fault. */
TEST(tables_in_page_0_are_not_there)
{
    uint8_t *tables[3] = {(uint8_t *)(uintptr_t)1, (uint8_t *)(uintptr_t)4095};

    tables[2] = table("SSDT", "one", 3);
    assert_true(root(true, tables, 3));
    assert_ptr_equal(acpi_find("SSDT", NULL), tables[2]);
}

TEST(the_dsdt_is_behind_the_fadt)
{
    uint8_t body[112] = {0}, *tables[1], *dsdt = table("DSDT", "aml", 3);

    put(body + 40 - HEADER, (uintptr_t)dsdt, 4);
    tables[0] = table("FACP", body, sizeof body);
    assert_true(root(false, tables, 1));
    assert_ptr_equal(acpi_dsdt(), dsdt);
    put(tables[0] + 140, (uintptr_t)dsdt, 8);
    put(tables[0] + 40, 0, 4);
    make_sum(tables[0], HEADER + sizeof body, 9);
    assert_ptr_equal(acpi_dsdt(), dsdt);
    put(tables[0] + 140, (uint64_t)1 << 40, 8); /* not mapped */
    make_sum(tables[0], HEADER + sizeof body, 9);
    assert_null(acpi_dsdt());
}

/* As QEMU's pc has it: one IO-APIC, the PIT at its input 2, lines of PCI level
 * and active high. */
TEST(the_interrupt_controllers_are_listed)
{
    static const uint8_t madt[] = {
        0, 0,  0xe0, 0xfe, 1,  0,    0,    0, /* local APICs, a PIC */
        0, 8,  0,    0,    1,  0,    0,    0, /* a CPU */
        1, 12, 0,    0,    0,  0,    0xc0, 0xfe, 0,    0, 0, 0, /* an IO-APIC */
        2, 10, 0,    0,    2,  0,    0,    0,    0,    0,       /* line 0 */
        2, 10, 0,    9,    9,  0,    0,    0,    0x0d, 0,       /* line 9 */
        2, 10, 0,    11,   20, 0,    0,    0,    0x0f, 0, /* line 11, low */
        1, 12, 1,    0,    0,  0x10, 0xc0, 0xfe, 24,   0, 0, 0,
    };
    struct acpi_interrupts found;
    uint8_t *tables[] = {table("APIC", madt, sizeof madt)};

    assert_true(root(true, tables, 1));
    assert_true(acpi_interrupts(&found));
    assert_true(found.has_pic);
    assert_int_equal(found.io_apics, 2);
    assert_true(found.io_apic[0].address == 0xfec00000u);
    assert_true(found.io_apic[1].address == 0xfec01000u);
    assert_int_equal(found.io_apic[1].first_gsi, 24);
    assert_int_equal(found.isa[0].gsi, 2);
    assert_false(found.isa[0].level);
    assert_int_equal(found.isa[1].gsi, 1);
    assert_true(found.isa[9].level && !found.isa[9].low);
    assert_int_equal(found.isa[11].gsi, 20);
    assert_true(found.isa[11].level && found.isa[11].low);
    assert_int_equal(found.overrides, 1 << 0 | 1 << 9 | 1 << 11);
}

TEST(damaged_lists_end)
{
    static const uint8_t madt[] = {0, 0,  0, 0, 0, 0, 0, 0, 2, 0,
                                   1, 12, 0, 0, 1, 0, 0, 0, 0, 0};
    struct acpi_interrupts found;
    uint8_t *tables[] = {table("APIC", madt, sizeof madt)};

    assert_true(root(true, tables, 1));
    assert_true(acpi_interrupts(&found));
    assert_int_equal(found.io_apics, 0);
    tables[0][HEADER + 9] = 100; /* longer than the table */
    make_sum(tables[0], HEADER + sizeof madt, 9);
    assert_true(acpi_interrupts(&found));
    assert_int_equal(found.io_apics, 0);
}

/* More IO-APICs than there is room for, and a line that no PC has. */
TEST(lists_are_no_longer_than_their_room)
{
    uint8_t madt[8 + 12 * 20 + 10] = {0};
    struct acpi_interrupts found;
    uint8_t *tables[1];

    for (unsigned i = 0; i < 20; i++)
        memcpy(madt + 8 + 12 * i, (uint8_t[]){1, 12}, 2);
    memcpy(madt + 8 + 12 * 20, (uint8_t[]){2, 10, 0, 200, 7}, 5);
    tables[0] = table("APIC", madt, sizeof madt);
    assert_true(root(true, tables, 1));
    assert_true(acpi_interrupts(&found));
    assert_int_equal(found.io_apics, ACPI_IO_APICS_MAX);
}

/* ---- AML */

static struct aml_device devices[8];
static unsigned count;

static void taken(const struct aml_device *device)
{
    if (count < 8)
        devices[count] = *device;
    count++;
}

static unsigned search(const uint8_t *code, size_t bytes)
{
    uint8_t *copy = malloc(bytes + (bytes == 0)); /* for the sanitizer */

    memcpy(copy, code, bytes);
    count = 0;
    aml_devices(copy, bytes, "LNRO0005", taken);
    free(copy);
    return count;
}

#define HID 'L', 'N', 'R', 'O', '0', '0', '0', '5', 0
/* clang-format off */
#define DEVICE(number, lines...)                                               \
    0x5b, 0x82, 0x3d, 'V', 'R', '0', number,           /* 61 bytes */          \
    0x08, '_', 'H', 'I', 'D', 0x0d, HID,                                       \
    0x08, '_', 'U', 'I', 'D', number,                                          \
    0x08, '_', 'C', 'R', 'S', 0x11, 0x1a, 0x0a, 0x17,                          \
    0x86, 0x09, 0x00, 0x01, 0x00, number * 2, 0xb0, 0xfe, 0x00, 0x02, 0x00, 0, \
    0x89, 0x06, 0x00, 0x01, 0x01, lines, 0x00, 0x00, 0x00,                     \
    0x79, 0x00, 0x08, 'A', 'A'
/* clang-format on */

static const uint8_t microvm[] = {
    0x14,          0x08,          '_',  'P',  'I',
    'C',           0x01,          0xa4, 0x00, /* a method */
    0x10,          0x45,          0x08, 0x5c, '_',
    'S',           'B',           '_', /* a scope, 133 bytes */
    DEVICE(0, 24), DEVICE(1, 25),
};

TEST(devices_are_found_as_microvm_lists_them)
{
    /* each device's last term is cut short, which ends the device alone */
    assert_int_equal(search(microvm, sizeof microvm), 2);
    for (unsigned i = 0; i < 2; i++) {
        assert_true(devices[i].memory == 0xfeb00000u + i * 0x200);
        assert_true(devices[i].bytes == 0x200);
        assert_true(devices[i].has_input);
        assert_int_equal(devices[i].input.gsi, 24 + i);
        assert_true(devices[i].input.level);
        assert_false(devices[i].input.low);
    }
}

/* The interrupt of a device whose resources are the (bytes) of (item). */
static struct acpi_input input_of(const uint8_t *item, uint8_t bytes)
{
    /* clang-format off */
    uint8_t code[64] = {
        0x5b, 0x82, (uint8_t)(29 + bytes), 'V', 'R', '0', '0',
        0x08, '_', 'H', 'I', 'D', 0x0d, HID,
        0x08, '_', 'C', 'R', 'S', 0x11, (uint8_t)(3 + bytes), 0x0a, bytes};
    /* clang-format on */

    memcpy(code + 31, item, bytes);
    assert_int_equal(search(code, 31u + bytes), 1);
    assert_true(devices[0].has_input);
    return devices[0].input;
}

/* Descriptors of two and of three bytes. */
TEST(lines_of_the_isa_bus_are_as_their_flags_say)
{
    const struct acpi_input plain =
        input_of((const uint8_t[]){0x22, 0x20, 0x00}, 3);
    const struct acpi_input level =
        input_of((const uint8_t[]){0x23, 0x00, 0x04, 0x18}, 4);
    const struct acpi_input edge =
        input_of((const uint8_t[]){0x23, 0x00, 0x04, 0x01}, 4);

    assert_int_equal(plain.gsi, 5);
    assert_true(!plain.level && !plain.low);
    assert_int_equal(level.gsi, 10);
    assert_true(level.level && level.low);
    assert_int_equal(edge.gsi, 10);
    assert_true(!edge.level && !edge.low);
}

TEST(lines_of_the_isa_bus_are_where_the_madt_says)
{
    static const uint8_t madt[] = {
        0, 0,  0xe0, 0xfe, 1,  0, 0, 0,          /* local APICs, a PIC */
        2, 10, 0,    5,    21, 0, 0, 0, 0x0f, 0, /* line 5: level, low */
        2, 10, 0,    11,   11, 0, 0, 0, 0,    0, /* line 11: as ISA has it */
    };
    uint8_t *tables[] = {table("APIC", madt, sizeof madt)};
    struct acpi_input input;

    assert_true(root(true, tables, 1));
    input = input_of((const uint8_t[]){0x22, 0x20, 0x00}, 3);
    assert_int_equal(input.gsi, 21);
    assert_true(input.level && input.low);
    input = input_of((const uint8_t[]){0x23, 0x00, 0x08, 0x18}, 4);
    assert_int_equal(input.gsi, 11);
    assert_true(!input.level && !input.low);
    input = input_of((const uint8_t[]){0x23, 0x80, 0x00, 0x18}, 4);
    assert_int_equal(input.gsi, 7);
    assert_true(input.level && input.low);
}

TEST(other_devices_are_passed_over)
{
    uint8_t changed[sizeof microvm];

    memcpy(changed, microvm, sizeof microvm);
    for (size_t i = 0; i < sizeof changed; i++)
        if (memcmp(changed + i, "LNRO0005", 8) == 0) {
            changed[i + 7] = '6';
            break;
        }
    assert_int_equal(search(changed, sizeof changed), 1);
    assert_int_equal(devices[0].input.gsi, 25);
}

/* What is behind a term that is not known is not looked at. */
TEST(unknown_terms_end_their_scope)
{
    uint8_t changed[sizeof microvm];

    memcpy(changed, microvm, sizeof microvm);
    changed[0] = 0x70; /* an assignment */
    assert_int_equal(search(changed, sizeof changed), 0);
}

TEST(scopes_in_scopes_end)
{
    uint8_t deep[6 * 40];

    for (unsigned i = 0; i < 40; i++)
        memcpy(deep + 6 * i,
               (uint8_t[]){
                   0x10,
                   (uint8_t)(0x3f < 6 * (40 - i) - 1 ? 0x3f : 6 * (40 - i) - 1),
                   'A', 'B', 'C', 'D'},
               6);
    assert_int_equal(search(deep, sizeof deep), 0);
}

/* Every cut, every byte changed, and any bytes: the sanitizers look on. */
TEST(any_bytes_are_read_within_their_bounds)
{
    uint8_t bytes[sizeof microvm];
    uint32_t seed = 1;

    for (size_t cut = 0; cut < sizeof microvm; cut++)
        assert_true(search(microvm, cut) <= 2);
    for (size_t at = 0; at < sizeof microvm; at++)
        for (unsigned value = 0; value < 256; value += 5) {
            memcpy(bytes, microvm, sizeof bytes);
            bytes[at] = (uint8_t)value;
            assert_true(search(bytes, sizeof bytes) <= 3);
        }
    for (unsigned round = 0; round < 20000; round++) {
        for (size_t i = 0; i < sizeof bytes; i++) {
            seed = seed * 1664525u + 1013904223u;
            bytes[i] = (uint8_t)(seed >> 24);
            if (i < 8 && seed % 3 != 0)
                bytes[i] = microvm[i + 9];
        }
        (void)search(bytes, sizeof bytes);
    }
}
