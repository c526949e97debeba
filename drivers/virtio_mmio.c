/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Source: Virtual I/O Device (VIRTIO) Version 1.1, OASIS: 4.2 (over MMIO, and
 * 4.2.4 for the legacy interface); the words: Linux, virtio_mmio.c.
 *
 * A place may be without a device: its kind is then 0.
 */

#include "virtio_mmio.h"

#include "acpi.h"
#include "aml.h"
#include "irq.h"

#define MAGIC 0x000u
#define MAGIC_VALUE 0x74726976u /* "virt" */
#define VERSION 0x004u
#define VERSION_LEGACY 1u
#define VERSION_MODERN 2u
#define KIND 0x008u
#define FEATURES 0x010u
#define FEATURES_SELECT 0x014u
#define TAKEN 0x020u
#define TAKEN_SELECT 0x024u
#define PAGE_SIZE 0x028u /* legacy */
#define QUEUE_SELECT 0x030u
#define QUEUE_MAX 0x034u
#define QUEUE_SIZE 0x038u
#define QUEUE_ALIGN 0x03cu /* legacy */
#define QUEUE_PAGE 0x040u  /* legacy */
#define QUEUE_READY 0x044u
#define QUEUE_NOTIFY 0x050u
#define INTERRUPT_STATUS 0x060u
#define INTERRUPT_DONE 0x064u
#define STATUS 0x070u
#define QUEUE_DESCRIPTORS 0x080u
#define QUEUE_AVAILABLE 0x090u
#define QUEUE_USED 0x0a0u
#define CONFIG 0x100u

#define HARDWARE_ID "LNRO0005"
#define READABLE_END ((uint64_t)1 << 32)
#define BYTES_LEAST 0x200u /* QEMU's */

static struct place {
    uintptr_t address;
    struct acpi_input input;
} places[VIRTIO_MMIO_MAX];
static unsigned place_count;
static bool tables_read;

static volatile uint32_t *at(const struct virtio_device *device,
                             unsigned offset)
{
    return (volatile uint32_t *)(device->registers + offset);
}

static void set_status(const struct virtio_device *device, uint8_t status)
{
    *at(device, STATUS) = status;
}

static uint8_t get_status(const struct virtio_device *device)
{
    return (uint8_t)*at(device, STATUS);
}

static uint32_t offered(const struct virtio_device *device, unsigned half)
{
    *at(device, FEATURES_SELECT) = half;
    return *at(device, FEATURES);
}

static void take_features(const struct virtio_device *device, unsigned half,
                          uint32_t features)
{
    *at(device, TAKEN_SELECT) = half;
    *at(device, TAKEN) = features;
}

static uint16_t select_queue(const struct virtio_device *device, unsigned index)
{
    const uint32_t most =
        (*at(device, QUEUE_SELECT) = index, *at(device, QUEUE_MAX));

    return most > UINT16_MAX ? UINT16_MAX : (uint16_t)most;
}

/* The size is written when the queue is enabled. */
static uint16_t limit_queue(const struct virtio_device *device, uint16_t size)
{
    (void)device;
    return size;
}

static void set_address(const struct virtio_device *device, unsigned offset,
                        const void *memory)
{
    const uint64_t address = (uintptr_t)memory;

    *at(device, offset) = (uint32_t)address;
    *at(device, offset + 4) = (uint32_t)(address >> 32);
}

static uintptr_t enable_queue(const struct virtio_device *device,
                              const struct virtio_tables *tables)
{
    *at(device, QUEUE_SIZE) = tables->size;
    set_address(device, QUEUE_DESCRIPTORS, tables->descriptors);
    set_address(device, QUEUE_AVAILABLE, tables->available);
    set_address(device, QUEUE_USED, tables->used);
    *at(device, QUEUE_READY) = 1;
    return *at(device, QUEUE_READY) == 1 ? device->notify : 0;
}

static uintptr_t legacy_enable_queue(const struct virtio_device *device,
                                     const struct virtio_tables *tables)
{
    const uint64_t page =
        (uint64_t)(uintptr_t)tables->descriptors / VIRTIO_PAGE_BYTES;

    *at(device, PAGE_SIZE) = VIRTIO_PAGE_BYTES;
    *at(device, QUEUE_SIZE) = tables->size;
    *at(device, QUEUE_ALIGN) = VIRTIO_PAGE_BYTES;
    *at(device, QUEUE_PAGE) = (uint32_t)page;
    return *at(device, QUEUE_PAGE) == page ? device->notify : 0;
}

static uint8_t config8(const struct virtio_device *device, unsigned offset)
{
    return *(device->registers + CONFIG + offset);
}

static uint32_t config32(const struct virtio_device *device, unsigned offset)
{
    return *at(device, CONFIG + offset);
}

static uint8_t interrupt(const struct virtio_device *device)
{
    const uint32_t status = *at(device, INTERRUPT_STATUS);

    if (status != 0)
        *at(device, INTERRUPT_DONE) = status;
    return (uint8_t)status;
}

static const struct virtio_transport modern = {
    .modern = true,
    .set_status = set_status,
    .status = get_status,
    .offered = offered,
    .take = take_features,
    .select_queue = select_queue,
    .limit_queue = limit_queue,
    .enable_queue = enable_queue,
    .config8 = config8,
    .config32 = config32,
    .interrupt = interrupt,
};

/* Of features it has 32. */
static uint32_t legacy_offered(const struct virtio_device *device,
                               unsigned half)
{
    return half == 0 ? offered(device, half) : 0;
}

static void legacy_take(const struct virtio_device *device, unsigned half,
                        uint32_t features)
{
    if (half == 0)
        take_features(device, half, features);
}

static const struct virtio_transport legacy = {
    .set_status = set_status,
    .status = get_status,
    .offered = legacy_offered,
    .take = legacy_take,
    .select_queue = select_queue,
    .limit_queue = limit_queue,
    .enable_queue = legacy_enable_queue,
    .config8 = config8,
    .config32 = config32,
    .interrupt = interrupt,
};

/* ---- places */

static bool add_place(uint64_t address, uint64_t bytes,
                      const struct acpi_input *input)
{
    if (address == 0 || address % 4 != 0 || bytes < BYTES_LEAST ||
        address >= READABLE_END || bytes > READABLE_END - address)
        return false;
    for (unsigned i = 0; i < place_count; i++)
        if (places[i].address == address)
            return true;
    if (place_count == VIRTIO_MMIO_MAX)
        return false;
    places[place_count++] = (struct place){(uintptr_t)address, *input};
    return true;
}

static void add_of_table(const struct aml_device *device)
{
    if (device->has_input)
        (void)add_place(device->memory, device->bytes, &device->input);
}

static void read_table(const struct acpi_table *table)
{
    aml_devices(table + 1, table->bytes - sizeof *table, HARDWARE_ID,
                add_of_table);
}

static void read_tables(void)
{
    const struct acpi_table *table = acpi_dsdt();

    if (table != NULL)
        read_table(table);
    table = NULL;
    while ((table = acpi_find("SSDT", table)) != NULL)
        read_table(table);
}

static int digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : 16;
}

/* A number as in C; false: there is none at (*text), or it is too large. */
static bool read_number(const char **text, uint64_t *value)
{
    int base = 10;
    const char *begin;

    if ((*text)[0] == '0' && ((*text)[1] == 'x' || (*text)[1] == 'X')) {
        base = 16;
        *text += 2;
    }
    begin = *text;
    for (*value = 0; digit(**text) < base; ++*text) {
        if (*value >> 56 != 0)
            return false;
        *value = *value * (unsigned)base + (unsigned)digit(**text);
    }
    return *text != begin;
}

static bool read_size(const char **text, uint64_t *bytes)
{
    static const char units[] = "kmgKMG";

    if (!read_number(text, bytes))
        return false;
    for (unsigned i = 0; units[i] != '\0'; i++)
        if (**text == units[i]) {
            ++*text;
            if (*bytes >> 32 != 0)
                return false;
            *bytes <<= 10 * (i % 3 + 1);
            break;
        }
    return true;
}

/* Linux takes such an interrupt as edge-triggered, as those of ISA. */
bool virtio_mmio_word(const char *word)
{
    uint64_t bytes, address, line, unused;

    if (!read_size(&word, &bytes) || *word++ != '@' ||
        !read_number(&word, &address) || *word++ != ':' ||
        !read_number(&word, &line) || line > UINT32_MAX)
        return false;
    if (*word == ':') {
        word++;
        if (!read_number(&word, &unused))
            return false;
    }
    return *word == '\0' &&
           add_place(address, bytes,
                     &(struct acpi_input){.gsi = (uint32_t)line});
}

static bool is_kind(const struct place *place, unsigned kind)
{
    volatile const uint32_t *registers = (void *)place->address;

    return registers[MAGIC / 4] == MAGIC_VALUE &&
           (registers[VERSION / 4] == VERSION_LEGACY ||
            registers[VERSION / 4] == VERSION_MODERN) &&
           registers[KIND / 4] == kind;
}

bool virtio_mmio_find(struct virtio_device *device, unsigned kind)
{
    if (!tables_read)
        read_tables();
    tables_read = true;
    for (unsigned i = 0; i < place_count; i++) {
        if (!is_kind(&places[i], kind))
            continue;
        *device = (struct virtio_device){
            .notify_by = VIRTIO_NOTIFY_32,
            .notify = places[i].address + QUEUE_NOTIFY,
            .registers = (volatile uint8_t *)places[i].address,
            .kind = kind,
            .line = irq_line_of(&places[i].input),
        };
        device->transport =
            *at(device, VERSION) == VERSION_MODERN ? &modern : &legacy;
        return true;
    }
    return false;
}
