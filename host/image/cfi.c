/* SPDX-License-Identifier: Apache-2.0 */
/* Call frame information, by libdw. */

#include "image/cfi.h"

#include "base/index.h"
#include "base/memory.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdlib.h>
#include <unistd.h>

/* Numbers of registers in DWARF: System V ABI, psABI of each width. */
struct numbers {
    int fp;
    int sp;
    int address;
};

static const struct numbers numbers_32 = {5, 4, 8};
static const struct numbers numbers_64 = {6, 7, 16};

struct cfi {
    int file;
    Elf *elf;
    Dwarf *dwarf;
    Dwarf_CFI *tables[2]; /* .eh_frame, .debug_frame; NULL = none */
    const struct numbers *numbers;
    struct index known; /* addresses */
    struct cfi_rule *rules;
};

struct cfi *cfi_open(const char *path)
{
    struct cfi *cfi = xreallocarray(NULL, 1, sizeof *cfi);
    GElf_Ehdr header;

    *cfi = (struct cfi){.file = open(path, O_RDONLY | O_CLOEXEC)};
    elf_version(EV_CURRENT);
    if (cfi->file >= 0)
        cfi->elf = elf_begin(cfi->file, ELF_C_READ_MMAP, NULL);
    if (cfi->elf != NULL && gelf_getehdr(cfi->elf, &header) != NULL) {
        cfi->numbers =
            header.e_machine == EM_X86_64 ? &numbers_64 : &numbers_32;
        cfi->tables[0] = dwarf_getcfi_elf(cfi->elf);
        cfi->dwarf = dwarf_begin_elf(cfi->elf, DWARF_C_READ, NULL);
    }
    if (cfi->dwarf != NULL)
        cfi->tables[1] = dwarf_getcfi(cfi->dwarf);
    if (cfi->tables[0] == NULL && cfi->tables[1] == NULL) {
        cfi_close(cfi);
        return NULL;
    }
    return cfi;
}

/* An offset of (word), which has a sign; false if it is no rule's. */
static bool offset_of(Dwarf_Word word, int32_t *offset)
{
    int64_t wide = (int64_t)word;

    *offset = (int32_t)wide;
    return *offset == wide;
}

/* Where the beginning of the frame is. */
static void find_base(struct cfi *cfi, Dwarf_Frame *frame,
                      struct cfi_rule *rule)
{
    Dwarf_Op *ops;
    size_t count;

    if (dwarf_frame_cfa(frame, &ops, &count) != 0 || count != 1 ||
        ops[0].atom != DW_OP_bregx || !offset_of(ops[0].number2, &rule->base))
        return;
    if (ops[0].number == (Dwarf_Word)cfi->numbers->sp)
        rule->kind = CFI_SP;
    else if (ops[0].number == (Dwarf_Word)cfi->numbers->fp)
        rule->kind = CFI_FP;
}

/* Whether a register is stored at an offset from the beginning of the frame;
 * *(undefined) says that it has no value. */
static bool is_stored(Dwarf_Frame *frame, int number, int32_t *offset,
                      bool *undefined)
{
    Dwarf_Op room[3], *ops;
    size_t count;

    *undefined = false;
    if (dwarf_frame_register(frame, number, room, &ops, &count) != 0)
        return false;
    *undefined = count == 0 && ops == room;
    if (count < 1 || count > 2 || ops[0].atom != DW_OP_call_frame_cfa)
        return false;
    if (count == 2 && ops[1].atom != DW_OP_plus_uconst)
        return false;
    return offset_of(count == 2 ? ops[1].number : 0, offset);
}

static struct cfi_rule rule_of(struct cfi *cfi, Dwarf_Frame *frame)
{
    struct cfi_rule rule = {0};
    bool undefined, ignored;

    find_base(cfi, frame, &rule);
    if (!is_stored(frame, cfi->numbers->address, &rule.address, &undefined))
        rule.kind = undefined ? CFI_OUTERMOST : CFI_UNKNOWN;
    rule.saves_fp = is_stored(frame, cfi->numbers->fp, &rule.fp, &ignored);
    return rule;
}

static struct cfi_rule look_up(struct cfi *cfi, uint64_t address)
{
    struct cfi_rule rule = {0};

    for (int i = 0; i < 2 && rule.kind == CFI_UNKNOWN; ++i) {
        Dwarf_Frame *frame = NULL;

        if (cfi->tables[i] != NULL &&
            dwarf_cfi_addrframe(cfi->tables[i], address, &frame) == 0)
            rule = rule_of(cfi, frame);
        free(frame);
    }
    return rule;
}

struct cfi_rule cfi_find(struct cfi *cfi, uint64_t address)
{
    bool is_new;
    uint32_t number = index_add(&cfi->known, address, &is_new);

    if (is_new) {
        vector_reserve_one(&cfi->rules, number, sizeof *cfi->rules);
        cfi->rules[number] = look_up(cfi, address);
    }
    return cfi->rules[number];
}

void cfi_close(struct cfi *cfi)
{
    if (cfi == NULL)
        return;
    if (cfi->tables[0] != NULL)
        dwarf_cfi_end(cfi->tables[0]);
    dwarf_end(cfi->dwarf);
    elf_end(cfi->elf);
    if (cfi->file >= 0)
        close(cfi->file);
    index_free(&cfi->known);
    free(cfi->rules);
    free(cfi);
}
