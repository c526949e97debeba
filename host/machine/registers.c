/* SPDX-License-Identifier: Apache-2.0 */
/* Registers from a stub's bytes, and as text.
 *
 * Source: Intel SDM 3A, sections 2.2 to 2.5. */

#include "machine/registers.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define CR0_PE 1u
#define EFER_LMA (1u << 10)
#define FLAGS_IF (1u << 9)
#define FLAGS_IOPL 12 /* from that bit on */
#define RING 3u
#define REGISTER_BYTES_MAX 256u
#define LAYOUT_BYTES_MAX 32768u

static const char *const names[REGISTERS][2] = {
    [REGISTER_IP] = {"eip", "rip"},
    [REGISTER_SP] = {"esp", "rsp"},
    [REGISTER_FP] = {"ebp", "rbp"},
    [REGISTER_CS] = {"cs", "cs"},
    [REGISTER_FLAGS] = {"eflags", "rflags"},
    [REGISTER_FS_BASE] = {"fs_base", "fs_base"},
    [REGISTER_GS_BASE] = {"gs_base", "gs_base"},
    [REGISTER_CR0] = {"cr0", "cr0"},
    [REGISTER_CR2] = {"cr2", "cr2"},
    [REGISTER_CR3] = {"cr3", "cr3"},
    [REGISTER_CR4] = {"cr4", "cr4"},
    [REGISTER_EFER] = {"efer", "efer"},
    [REGISTER_AX] = {"eax", "rax"},
    [REGISTER_BX] = {"ebx", "rbx"},
    [REGISTER_CX] = {"ecx", "rcx"},
    [REGISTER_DX] = {"edx", "rdx"},
    [REGISTER_SI] = {"esi", "rsi"},
    [REGISTER_DI] = {"edi", "rdi"},
    [REGISTER_R8] = {"r8", "r8"},
    [REGISTER_R9] = {"r9", "r9"},
    [REGISTER_R10] = {"r10", "r10"},
    [REGISTER_R11] = {"r11", "r11"},
    [REGISTER_R12] = {"r12", "r12"},
    [REGISTER_R13] = {"r13", "r13"},
    [REGISTER_R14] = {"r14", "r14"},
    [REGISTER_R15] = {"r15", "r15"},
    [REGISTER_SS] = {"ss", "ss"},
    [REGISTER_DS] = {"ds", "ds"},
    [REGISTER_ES] = {"es", "es"},
    [REGISTER_FS] = {"fs", "fs"},
    [REGISTER_GS] = {"gs", "gs"},
};

/* Where they are if nothing describes it. */
static const struct register_layout plain[2] = {
    {.bytes = 64,
     .places = {[REGISTER_AX] = {0, 4},
                [REGISTER_CX] = {4, 4},
                [REGISTER_DX] = {8, 4},
                [REGISTER_BX] = {12, 4},
                [REGISTER_SP] = {16, 4},
                [REGISTER_FP] = {20, 4},
                [REGISTER_SI] = {24, 4},
                [REGISTER_DI] = {28, 4},
                [REGISTER_IP] = {32, 4},
                [REGISTER_FLAGS] = {36, 4},
                [REGISTER_CS] = {40, 4},
                [REGISTER_SS] = {44, 4},
                [REGISTER_DS] = {48, 4},
                [REGISTER_ES] = {52, 4},
                [REGISTER_FS] = {56, 4},
                [REGISTER_GS] = {60, 4}}},
    {.is_64 = true,
     .bytes = 164,
     .places = {[REGISTER_AX] = {0, 8},    [REGISTER_BX] = {8, 8},
                [REGISTER_CX] = {16, 8},   [REGISTER_DX] = {24, 8},
                [REGISTER_SI] = {32, 8},   [REGISTER_DI] = {40, 8},
                [REGISTER_FP] = {48, 8},   [REGISTER_SP] = {56, 8},
                [REGISTER_R8] = {64, 8},   [REGISTER_R9] = {72, 8},
                [REGISTER_R10] = {80, 8},  [REGISTER_R11] = {88, 8},
                [REGISTER_R12] = {96, 8},  [REGISTER_R13] = {104, 8},
                [REGISTER_R14] = {112, 8}, [REGISTER_R15] = {120, 8},
                [REGISTER_IP] = {128, 8},  [REGISTER_FLAGS] = {136, 4},
                [REGISTER_CS] = {140, 4},  [REGISTER_SS] = {144, 4},
                [REGISTER_DS] = {148, 4},  [REGISTER_ES] = {152, 4},
                [REGISTER_FS] = {156, 4},  [REGISTER_GS] = {160, 4}}},
};

/* The value of the attribute (name) in the element (tag), which ends at (end);
 * *(bytes) is its length. NULL if it is not there. */
static const char *attribute(const char *tag, const char *end, const char *name,
                             size_t *bytes)
{
    size_t count = strlen(name);

    for (const char *at = tag; at + count + 2 < end; ++at) {
        const char *close;

        if ((*at != ' ' && *at != '\n' && *at != '\t') ||
            strncmp(at + 1, name, count) != 0 || at[count + 1] != '=' ||
            (at[count + 2] != '"' && at[count + 2] != '\''))
            continue;
        close = memchr(at + count + 3, at[count + 2],
                       (size_t)(end - at) - count - 3);
        *bytes = close != NULL ? (size_t)(close - at) - count - 3 : 0;
        return close != NULL ? at + count + 3 : NULL;
    }
    return NULL;
}

static bool is_word(const char *text, size_t bytes, const char *word)
{
    return text != NULL && strlen(word) == bytes &&
           strncmp(text, word, bytes) == 0;
}

static void add_register(struct register_layout *layout, const char *tag,
                         const char *end)
{
    size_t name_bytes = 0, bits_bytes = 0;
    const char *name = attribute(tag, end, "name", &name_bytes);
    const char *bits = attribute(tag, end, "bitsize", &bits_bytes);
    unsigned long bytes = bits != NULL ? strtoul(bits, NULL, 10) / 8 : 0;

    if (bytes > REGISTER_BYTES_MAX || layout->bytes + bytes > LAYOUT_BYTES_MAX)
        return;
    for (int i = 0; i < REGISTERS; ++i) {
        if (!is_word(name, name_bytes, names[i][0]) &&
            !is_word(name, name_bytes, names[i][1]))
            continue;
        layout->places[i] =
            (struct register_place){layout->bytes, (uint32_t)bytes};
        if (i == REGISTER_IP)
            layout->is_64 = bytes == 8;
    }
    layout->bytes += (uint32_t)bytes;
}

void registers_add_xml(struct register_layout *layout, const char *xml)
{
    const char *tag = xml;

    while ((tag = strstr(tag, "<reg ")) != NULL) {
        const char *end = strchr(tag, '>');

        if (end == NULL)
            break;
        add_register(layout, tag, end);
        tag = end;
    }
    layout->described = layout->places[REGISTER_IP].bytes >= 4 &&
                        layout->places[REGISTER_SP].bytes >= 4 &&
                        layout->places[REGISTER_FP].bytes >= 4;
}

bool registers_included(const char *xml, unsigned number, char *name,
                        size_t room)
{
    const char *tag = xml;

    while ((tag = strstr(tag, "<xi:include ")) != NULL) {
        const char *end = strchr(tag, '>'), *text;
        size_t bytes = 0;

        if (end == NULL)
            return false;
        if (number-- == 0) {
            text = attribute(tag, end, "href", &bytes);
            if (text == NULL || bytes == 0 || bytes >= room)
                return false;
            memcpy(name, text, bytes);
            name[bytes] = '\0';
            return true;
        }
        tag = end;
    }
    return false;
}

static uint64_t value_at(const struct register_place *place,
                         const uint8_t *bytes, size_t count)
{
    uint64_t result = 0;
    uint32_t width = place->bytes < 8 ? place->bytes : 8;

    if ((size_t)place->offset + width > count)
        return 0;
    for (uint32_t i = width; i-- > 0;)
        result = result << 8 | bytes[place->offset + i];
    return result;
}

static enum registers_mode mode(const struct register_layout *layout,
                                const struct registers *registers)
{
    if (layout->places[REGISTER_CR0].bytes > 0 &&
        (registers->cr0 & CR0_PE) == 0)
        return MODE_REAL;
    if (!layout->is_64 || (layout->places[REGISTER_EFER].bytes > 0 &&
                           (registers->efer & EFER_LMA) == 0))
        return MODE_32;
    return MODE_64;
}

/* Makes a description fit the (count) bytes that came. QEMU 7 sends three base
 * registers before cr0, and describes none of them for i386 and six for x86_64.
 * What follows those is not known if anything else differs. */
static void fit(struct register_layout *layout, size_t count)
{
    uint32_t bases = 3 * (layout->is_64 ? 8 : 4);

    for (int i = REGISTER_FS_BASE; i <= REGISTER_EFER; ++i) {
        struct register_place *place = &layout->places[i];

        if (place->bytes > 0 && count == layout->bytes + bases)
            place->offset += bases;
        else if (place->offset >= bases && count + bases == layout->bytes)
            place->offset -= bases;
        else
            place->bytes = 0;
    }
    layout->bytes = (uint32_t)count;
}

bool registers_take(struct register_layout *layout, const uint8_t *bytes,
                    size_t count, struct registers *registers)
{
    uint64_t values[REGISTERS_TAKEN];

    if (!layout->described)
        *layout = plain[count >= plain[1].bytes];
    else if (layout->bytes != count)
        fit(layout, count);
    for (int i = 0; i < REGISTERS_TAKEN; ++i)
        values[i] = value_at(&layout->places[i], bytes, count);
    for (int i = REGISTER_IP; i <= REGISTER_FP; ++i) {
        if ((size_t)layout->places[i].offset + layout->places[i].bytes > count)
            return false;
    }
    *registers = (struct registers){
        .ip = values[REGISTER_IP],
        .sp = values[REGISTER_SP],
        .fp = values[REGISTER_FP],
        .cs = values[REGISTER_CS] & 0xffff,
        .cr0 = values[REGISTER_CR0],
        .cr3 = values[REGISTER_CR3],
        .cr4 = values[REGISTER_CR4],
        .efer = values[REGISTER_EFER],
        .masked = layout->places[REGISTER_FLAGS].bytes > 0 &&
                  (values[REGISTER_FLAGS] & FLAGS_IF) == 0,
    };
    registers->mode = mode(layout, registers);
    if (registers->mode == MODE_REAL)
        registers->ip += registers->cs << 4;
    return true;
}

void registers_read(const struct register_layout *layout, const uint8_t *bytes,
                    size_t count, struct register_values *values)
{
    for (int i = 0; i < REGISTERS; ++i) {
        const struct register_place *place = &layout->places[i];

        values->known[i] =
            place->bytes > 0 && (size_t)place->offset + place->bytes <= count;
        values->values[i] =
            values->known[i] ? value_at(place, bytes, count) : 0;
    }
}

/* ---- for people */

static const char *const flag_bits[64] = {
    [0] = "CF",  [2] = "PF",   [4] = "AF",   [6] = "ZF",
    [7] = "SF",  [8] = "TF",   [9] = "IF",   [10] = "DF",
    [11] = "OF", [14] = "NT",  [16] = "RF",  [17] = "VM",
    [18] = "AC", [19] = "VIF", [20] = "VIP", [21] = "ID",
};
static const char *const cr0_bits[64] = {
    [0] = "PE",  [1] = "MP",  [2] = "EM",  [3] = "TS",  [4] = "ET",  [5] = "NE",
    [16] = "WP", [18] = "AM", [29] = "NW", [30] = "CD", [31] = "PG",
};
static const char *const cr4_bits[64] = {
    [0] = "VME",    [1] = "PVI",      [2] = "TSD",         [3] = "DE",
    [4] = "PSE",    [5] = "PAE",      [6] = "MCE",         [7] = "PGE",
    [8] = "PCE",    [9] = "OSFXSR",   [10] = "OSXMMEXCPT", [11] = "UMIP",
    [12] = "LA57",  [13] = "VMXE",    [14] = "SMXE",       [16] = "FSGSBASE",
    [17] = "PCIDE", [18] = "OSXSAVE", [20] = "SMEP",       [21] = "SMAP",
    [22] = "PKE",   [23] = "CET",     [24] = "PKS",
};
static const char *const efer_bits[64] = {
    [0] = "SCE",   [8] = "LME",    [10] = "LMA",   [11] = "NXE",
    [12] = "SVME", [13] = "LMSLE", [14] = "FFXSR", [15] = "TCE",
};

static void print_bits(FILE *out, uint64_t value, const char *const *bits)
{
    const char *apart = "  ";

    for (int i = 0; i < 64; ++i) {
        if ((value >> i & 1) == 0 || bits[i] == NULL)
            continue;
        fprintf(out, "%s%s", apart, bits[i]);
        apart = " ";
    }
}

/* The known ones of (count) registers, (columns) to a line. */
static void print_row(FILE *out, const struct register_values *values,
                      bool wide, const enum register_name *list, size_t count,
                      size_t columns)
{
    size_t column = 0;

    for (size_t i = 0; i < count; ++i) {
        if (!values->known[list[i]])
            continue;
        fprintf(out, "  %-3s %0*" PRIx64, names[list[i]][wide], wide ? 16 : 8,
                values->values[list[i]]);
        if (++column < columns)
            continue;
        fputc('\n', out);
        column = 0;
    }
    if (column > 0)
        fputc('\n', out);
}

static void print_segments(FILE *out, const struct register_values *values,
                           enum registers_mode mode)
{
    static const enum register_name list[] = {REGISTER_CS, REGISTER_SS,
                                              REGISTER_DS, REGISTER_ES,
                                              REGISTER_FS, REGISTER_GS};
    bool any = false;

    for (size_t i = 0; i < sizeof list / sizeof list[0]; ++i) {
        uint64_t value = values->values[list[i]] & 0xffff;

        if (!values->known[list[i]])
            continue;
        fprintf(out, "  %s %04" PRIx64, names[list[i]][0], value);
        if (list[i] == REGISTER_CS && mode != MODE_REAL)
            fprintf(out, " (ring %u)", (unsigned)(value & RING));
        any = true;
    }
    if (any)
        fputc('\n', out);
}

static void print_control(FILE *out, const struct register_values *values,
                          bool wide)
{
    static const struct {
        enum register_name name;
        const char *const *bits;
    } list[] = {{REGISTER_CR0, cr0_bits},
                {REGISTER_CR4, cr4_bits},
                {REGISTER_EFER, efer_bits}};

    for (size_t i = 0; i < sizeof list / sizeof list[0]; ++i) {
        uint64_t value = values->values[list[i].name];

        if (!values->known[list[i].name])
            continue;
        fprintf(out, "  %s %0*" PRIx64, names[list[i].name][wide],
                wide ? 16 : 8, value);
        print_bits(out, value, list[i].bits);
        fputc('\n', out);
    }
}

void registers_print(FILE *out, const struct register_values *values,
                     enum registers_mode mode)
{
    static const enum register_name general[] = {
        REGISTER_AX,  REGISTER_BX,  REGISTER_CX,  REGISTER_DX,  REGISTER_SI,
        REGISTER_DI,  REGISTER_SP,  REGISTER_FP,  REGISTER_IP,  REGISTER_R8,
        REGISTER_R9,  REGISTER_R10, REGISTER_R11, REGISTER_R12, REGISTER_R13,
        REGISTER_R14, REGISTER_R15};
    static const enum register_name bases[] = {REGISTER_FS_BASE,
                                               REGISTER_GS_BASE};
    static const enum register_name pages[] = {REGISTER_CR2, REGISTER_CR3};
    bool wide = mode == MODE_64;
    uint64_t flags = values->values[REGISTER_FLAGS];

    print_row(out, values, wide, general, wide ? 17 : 9, wide ? 3 : 4);
    if (values->known[REGISTER_FLAGS]) {
        fprintf(out, "  %s %08" PRIx64, names[REGISTER_FLAGS][wide], flags);
        print_bits(out, flags, flag_bits);
        fprintf(out, "  IOPL %u\n", (unsigned)(flags >> FLAGS_IOPL & RING));
    }
    print_segments(out, values, mode);
    print_row(out, values, wide, bases, wide ? 2 : 0, 2);
    print_row(out, values, wide, pages, 2, 2);
    print_control(out, values, wide);
}
