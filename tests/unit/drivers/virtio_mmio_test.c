/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Devices in memory: the words that say where, and a device's registers, which
 * are this file's memory below 4 GiB. Tables and lines are this file's, too.
 */

#include "../unit.h"

#include "../../../drivers/acpi.h"
#include "../../../drivers/aml.h"
#include "../../../drivers/irq.h"
#include "../../../drivers/virtio_mmio.h"

#include <stdio.h>
#include <sys/mman.h>

const struct acpi_table *acpi_dsdt(void)
{
    return NULL;
}

const struct acpi_table *acpi_find(const char signature[4],
                                   const struct acpi_table *after)
{
    (void)signature;
    (void)after;
    return NULL;
}

void aml_devices(const void *code, size_t bytes, const char *hid,
                 void (*take)(const struct aml_device *device))
{
    (void)code;
    (void)bytes;
    (void)hid;
    (void)take;
}

unsigned irq_line_of(const struct acpi_input *input)
{
    return input->gsi < 16 ? input->gsi : IRQ_NONE;
}

TEST(words_of_another_form_are_refused)
{
    static const char *const words[] = {
        "",
        "512",
        "512@",
        "512@0xfeb00000",
        "512@0xfeb00000:",
        "512@0xfeb00000:x",
        "512@0xfeb00000:5x",
        "512@0xfeb00000:5:",
        "512@0xfeb00000:5:1 ",
        "0x@0xfeb00000:5",
        "@0xfeb00000:5",
        "512@feb00000:5",
        "512@0xfeb00001:5",           /* not aligned */
        "511@0xfeb00000:5",           /* too short */
        "512@0:5",                    /* nowhere */
        "512@0x100000000:5",          /* not mapped */
        "512@0xfffffffc:5",           /* not all of it */
        "0xffffffffff@0xfeb00000:5",  /* the same */
        "512@0xffffffffffffffffff:5", /* 72 bits */
        "512@0xfeb00000:4294967296",
        "999999999999G@0xfeb00000:5",
    };

    for (unsigned i = 0; i < sizeof words / sizeof *words; i++)
        if (virtio_mmio_word(words[i]))
            fail_msg("%s", words[i]);
}

static volatile uint32_t *device_at(uint32_t version, uint32_t kind,
                                    unsigned line)
{
    volatile uint32_t *registers =
        mmap(NULL, 4096, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
    char word[64];

    assert_true(registers != MAP_FAILED);
    registers[0] = 0x74726976;
    registers[1] = version;
    registers[2] = kind;
    snprintf(word, sizeof word, "4K@0x%lx:%u:0",
             (unsigned long)(uintptr_t)registers, line);
    assert_true(virtio_mmio_word(word));
    assert_true(virtio_mmio_word(word)); /* again: the same place */
    return registers;
}

static void reads_and_writes(volatile uint32_t *registers, unsigned kind,
                             bool modern)
{
    const struct virtio_transport *by;
    struct virtio_device device;
    uint32_t tables;

    assert_true(virtio_mmio_find(&device, kind));
    by = device.transport;
    assert_int_equal(by->modern, modern);
    assert_int_equal(device.notify_by, VIRTIO_NOTIFY_32);
    assert_true(device.notify == (uintptr_t)registers + 0x50);
    registers[0x34 / 4] = 1024;
    assert_int_equal(by->select_queue(&device, 1), 1024);
    assert_int_equal(registers[0x30 / 4], 1);
    registers[0x34 / 4] = UINT32_MAX;
    assert_int_equal(by->select_queue(&device, 1), UINT16_MAX);
    by->take(&device, 0, 7);
    assert_int_equal(registers[0x20 / 4], 7);
    registers[0x10 / 4] = 9;
    assert_int_equal(by->offered(&device, 0), 9);
    assert_int_equal(by->offered(&device, 1), modern ? 9 : 0);
    by->set_status(&device, 3);
    assert_int_equal(by->status(&device), 3);
    registers[0x60 / 4] = 1;
    assert_int_equal(by->interrupt(&device), 1);
    assert_int_equal(registers[0x64 / 4], 1);
    *((volatile uint8_t *)registers + 0x103) = 0x5a;
    assert_int_equal(by->config8(&device, 3), 0x5a);
    assert_int_equal(by->config32(&device, 0), 0x5a000000);
    registers[0x108 / 4] = 0x12345678;
    assert_int_equal(by->config32(&device, 8), 0x12345678);
    assert_true(by->enable_queue(
                    &device, &(struct virtio_tables){
                                 64, (void *)(uintptr_t)0x5000,
                                 (void *)(uintptr_t)0x6000,
                                 (void *)(uintptr_t)0x7000}) == device.notify);
    tables = modern ? registers[0x80 / 4] : registers[0x40 / 4] * 4096;
    assert_int_equal(tables, 0x5000);
    assert_int_equal(registers[0x38 / 4], 64);
}

TEST(devices_are_found_by_their_kind)
{
    volatile uint32_t *none = device_at(2, 0, 4);
    volatile uint32_t *disk = device_at(2, VIRTIO_BLOCK, 5);
    volatile uint32_t *console = device_at(1, VIRTIO_CONSOLE, 40);
    struct virtio_device device;

    reads_and_writes(disk, VIRTIO_BLOCK, true);
    reads_and_writes(console, VIRTIO_CONSOLE, false);
    assert_true(virtio_mmio_find(&device, VIRTIO_BLOCK) && device.line == 5);
    assert_true(virtio_mmio_find(&device, VIRTIO_CONSOLE));
    assert_int_equal(device.line, IRQ_NONE);
    assert_false(virtio_mmio_find(&device, VIRTIO_NETWORK));
    none[2] = VIRTIO_NETWORK;
    assert_true(virtio_mmio_find(&device, VIRTIO_NETWORK));
    none[1] = 3; /* a version to come */
    assert_false(virtio_mmio_find(&device, VIRTIO_NETWORK));
    disk[0]++; /* not the magic number */
    assert_false(virtio_mmio_find(&device, VIRTIO_BLOCK));
}

TEST(places_are_no_more_than_there_is_room_for)
{
    unsigned taken = 0;
    char word[64];

    for (unsigned i = 0; i < 2 * VIRTIO_MMIO_MAX; i++) {
        snprintf(word, sizeof word, "512@0x%x:5", 0x1000u * (i + 1));
        taken += virtio_mmio_word(word);
    }
    assert_true(taken > 0 && taken < VIRTIO_MMIO_MAX);
}
