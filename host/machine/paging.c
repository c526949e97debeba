/* SPDX-License-Identifier: Apache-2.0 */
/* The walk of page tables. */

#include "machine/paging.h"

#include "base/bytes.h"

#define CR0_PG (1u << 31)
#define CR4_PSE (1u << 4)
#define CR4_PAE (1u << 5)
#define CR4_LA57 (1u << 12)
#define EFER_LMA (1u << 10)

#define PRESENT 1u
#define LARGE (1u << 7)
#define PAGE_BITS 12
#define ADDRESS_MASK 0x000ffffffffff000ull
#define PAE_ROOT_MASK 0x000fffffffffffe0ull /* above 4 GiB with Xen only */
#define CR3_MASK_32 0xfffff000u

/* One form of paging: the levels below the root. */
struct form {
    unsigned entry_bytes;
    unsigned index_bits;
    unsigned levels;
    unsigned large_levels; /* from the last but one on: may be a page */
    bool pae_root;         /* four entries without a size */
};

static const struct form form_32 = {4, 10, 2, 1, false};
static const struct form form_32_small = {4, 10, 2, 0, false};
static const struct form form_pae = {8, 9, 3, 1, true};
static const struct form form_4 = {8, 9, 4, 2, false};
static const struct form form_5 = {8, 9, 5, 2, false};

static const struct form *form_of(const struct registers *registers)
{
    if (registers->efer & EFER_LMA)
        return registers->cr4 & CR4_LA57 ? &form_5 : &form_4;
    if (registers->cr4 & CR4_PAE)
        return &form_pae;
    return registers->cr4 & CR4_PSE ? &form_32 : &form_32_small;
}

/* A large page of 4 MiB: bits 13 to 20 of its entry are the upper 8. */
static uint64_t large_page_32(uint64_t entry)
{
    return (entry & 0xffc00000u) | (entry >> 13 & 0xff) << 32;
}

static uint64_t page_of(const struct form *form, uint64_t entry, unsigned bits)
{
    if (form->entry_bytes == 4)
        return bits == PAGE_BITS ? entry & CR3_MASK_32 : large_page_32(entry);
    return entry & ADDRESS_MASK & ~((1ull << bits) - 1);
}

static void found(uint64_t address, uint64_t page, unsigned bits,
                  uint64_t *physical, uint64_t *left)
{
    uint64_t offset = address & ((1ull << bits) - 1);

    *physical = page + offset;
    *left = (1ull << bits) - offset;
}

static bool read_entry(const struct paging_memory *memory, uint64_t physical,
                       unsigned bytes, uint64_t *value)
{
    uint8_t read[8];

    if (!memory->copy(memory->owner, physical, read, bytes))
        return false;
    *value = bytes == 4 ? le32(read) : le64(read);
    return true;
}

static bool walk(const struct form *form, uint64_t table,
                 const struct paging_memory *memory, uint64_t address,
                 uint64_t *physical, uint64_t *left)
{
    for (unsigned level = form->levels; level-- > 0;) {
        unsigned bits = PAGE_BITS + level * form->index_bits;
        uint64_t index = address >> bits & ((1u << form->index_bits) - 1);
        uint64_t entry;

        if (form->pae_root && level == form->levels - 1)
            index &= 3;
        if (!read_entry(memory, table + index * form->entry_bytes,
                        form->entry_bytes, &entry) ||
            (entry & PRESENT) == 0)
            return false;
        if (level == 0 ||
            (level <= form->large_levels && (entry & LARGE) != 0)) {
            found(address, page_of(form, entry, bits), bits, physical, left);
            return true;
        }
        table =
            form->entry_bytes == 4 ? entry & CR3_MASK_32 : entry & ADDRESS_MASK;
    }
    return false;
}

bool paging_translate(const struct registers *registers,
                      const struct paging_memory *memory, uint64_t address,
                      uint64_t *physical, uint64_t *left)
{
    const struct form *form = form_of(registers);

    if ((registers->efer & EFER_LMA) == 0)
        address &= UINT32_MAX;
    if ((registers->cr0 & CR0_PG) == 0) {
        found(address, address & ~0xfffull, PAGE_BITS, physical, left);
        return true;
    }
    return walk(form,
                registers->cr3 & (form->pae_root           ? PAE_ROOT_MASK
                                  : form->entry_bytes == 4 ? CR3_MASK_32
                                                           : ADDRESS_MASK),
                memory, address, physical, left);
}

size_t paging_read(const struct registers *registers,
                   const struct paging_memory *memory, uint64_t address,
                   uint8_t *to, size_t bytes)
{
    size_t done = 0;

    while (done < bytes) {
        uint64_t physical, left;
        size_t part = bytes - done;

        if (!paging_translate(registers, memory, address + done, &physical,
                              &left))
            break;
        left &= (1u << PAGE_BITS) - 1; /* of 4 KiB, in a larger one too */
        if (left == 0)
            left = 1u << PAGE_BITS;
        if (part > left)
            part = (size_t)left;
        if (!memory->copy(memory->owner, physical, to + done, part))
            break;
        done += part;
    }
    return done;
}
