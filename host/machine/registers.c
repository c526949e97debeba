/* SPDX-License-Identifier: Apache-2.0 */
/* Registers from a stub's bytes. */

#include "machine/registers.h"

#include <stdlib.h>
#include <string.h>

#define CR0_PE 1u
#define EFER_LMA (1u << 10)
#define FLAGS_IF (1u << 9)
#define REGISTER_BYTES_MAX 256u
#define LAYOUT_BYTES_MAX 32768u

static const char *const names[REGISTERS][2] = {
    [REGISTER_IP] = {"eip", "rip"},          [REGISTER_SP] = {"esp", "rsp"},
    [REGISTER_FP] = {"ebp", "rbp"},          [REGISTER_CS] = {"cs", "cs"},
    [REGISTER_CR0] = {"cr0", "cr0"},         [REGISTER_CR3] = {"cr3", "cr3"},
    [REGISTER_CR4] = {"cr4", "cr4"},         [REGISTER_EFER] = {"efer", "efer"},
    [REGISTER_FLAGS] = {"eflags", "rflags"},
};

/* Where they are if nothing describes it. */
static const struct register_layout plain[2] = {
    {.bytes = 64,
     .places = {[REGISTER_IP] = {32, 4},
                [REGISTER_SP] = {16, 4},
                [REGISTER_FP] = {20, 4},
                [REGISTER_CS] = {40, 4},
                [REGISTER_FLAGS] = {36, 4}}},
    {.is_64 = true,
     .bytes = 164,
     .places = {[REGISTER_IP] = {128, 8},
                [REGISTER_SP] = {56, 8},
                [REGISTER_FP] = {48, 8},
                [REGISTER_CS] = {140, 4},
                [REGISTER_FLAGS] = {136, 4}}},
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

    for (int i = REGISTER_CR0; i <= REGISTER_EFER; ++i) {
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
    uint64_t values[REGISTERS];

    if (!layout->described)
        *layout = plain[count >= plain[1].bytes];
    else if (layout->bytes != count)
        fit(layout, count);
    for (int i = 0; i < REGISTERS; ++i)
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
