/* SPDX-License-Identifier: Apache-2.0 */
/* How to unwind an image, by libdw, and the instructions in its file. */

#include "image/code.h"

#include "base/checked.h"
#include "base/index.h"
#include "base/memory.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
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

/* ---- instructions */

#define PAGE 4096u
#define HEAD_BYTES 24u
#define LOOKED_AT 256u /* functions */
#define PUSH_FP 0x55

static void map_file(struct code *code, const char *path)
{
    int file = open(path, O_RDONLY | O_CLOEXEC);
    struct stat about;
    void *bytes;

    if (file < 0)
        return;
    if (fstat(file, &about) == 0 && about.st_size > 0) {
        bytes =
            mmap(NULL, (size_t)about.st_size, PROT_READ, MAP_PRIVATE, file, 0);
        if (bytes != MAP_FAILED) {
            code->file = bytes;
            code->file_bytes = (size_t)about.st_size;
        }
    }
    close(file);
}

int code_byte(const struct code *code, uint64_t address)
{
    for (size_t i = 0; i < code->segment_count; ++i) {
        const struct segment *segment = &code->segments[i];
        uint64_t offset = address - segment->address;

        if (address >= segment->address && offset < segment->bytes &&
            checked_add(segment->offset, offset) < code->file_bytes)
            return code->file[segment->offset + offset];
    }
    return -1;
}

size_t code_same(const struct code *code, uint64_t address,
                 const uint8_t *bytes, size_t count)
{
    size_t same = 0;

    for (size_t i = 0; i < count; ++i)
        same += code_byte(code, address + i) == bytes[i];
    return same;
}

/* "push %rbp; mov %rsp, %rbp" at (bytes), with whatever in between. With
 * another REX prefix (REX.W alone is 0x48) it moves another register. */
static bool is_prologue(const uint8_t *bytes, size_t count)
{
    if (bytes[0] != PUSH_FP)
        return false;
    for (size_t i = 1; i + 1 < count; ++i) {
        bool moves = (bytes[i] == 0x89 && bytes[i + 1] == 0xe5) ||
                     (bytes[i] == 0x8b && bytes[i + 1] == 0xec);

        if (moves && ((bytes[i - 1] & 0xf0) != 0x40 || bytes[i - 1] == 0x48))
            return true;
    }
    return false;
}

bool code_sets_frame(const uint8_t *bytes, size_t count)
{
    /* behind nothing, ENDBR, a place for a tracer's call, both */
    static const unsigned begins[] = {0, 4, 5, 9};

    for (size_t i = 0; i < sizeof begins / sizeof begins[0]; ++i) {
        if (begins[i] + 3 <= count &&
            is_prologue(bytes + begins[i], count - begins[i]))
            return true;
    }
    return false;
}

static bool keeps_frames(const struct code *code)
{
    const struct image *image = code->image;
    size_t step = image->count / LOOKED_AT + 1, looked = 0, with = 0;

    for (size_t i = 0; i < image->count; i += step) {
        uint64_t start = image->functions[i].start - image->moved;
        uint8_t head[HEAD_BYTES];

        for (size_t k = 0; k < sizeof head; ++k)
            head[k] = (uint8_t)code_byte(code, start + k);
        ++looked;
        with += code_sets_frame(head, sizeof head);
    }
    return 2 * with >= looked;
}

void code_open(struct code *code, const struct image *image)
{
    *code = (struct code){.image = image, .align = PAGE};
    if (image_file(image) == NULL)
        return;
    code->cfi = cfi_open(image->path);
    code->segments = segments_read(image->path, &code->segment_count);
    map_file(code, image->path);
    for (size_t i = 0; i < code->segment_count; ++i) {
        uint64_t align = code->segments[i].align;

        if (align > code->align && (align & (align - 1)) == 0)
            code->align = align;
    }
    code->keeps_frames = keeps_frames(code);
}

void code_close(struct code *code)
{
    cfi_close(code->cfi);
    free(code->segments);
    if (code->file != NULL)
        munmap((void *)code->file, code->file_bytes);
}
