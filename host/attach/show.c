/* SPDX-License-Identifier: Apache-2.0 */
/* One look at a stopped guest, as text. */

#include "attach/show.h"

#include "base/text.h"
#include "image/names.h"

#include <inttypes.h>
#include <string.h>

#define CODE_BEFORE 8u /* bytes */
#define CODE_AFTER 14u
#define STACK_WORDS 64u
#define LINE_BYTES 16u
#define SEGMENT 4 /* log2 of the bytes that a real mode segment counts in */

static const char *const modes[] = {
    [MODE_REAL] = "16-bit",
    [MODE_32] = "32-bit",
    [MODE_64] = "64-bit",
};

struct show {
    FILE *out;
    struct sampler *sampler;
    struct names names;
    size_t cpu;
    const struct registers *registers;
    struct unwind_stack callers; /* of it */
    int digits;                  /* of an address */
    unsigned word;
};

/* "function+0x12", or what else stands for (address). Of a caller, to which
 * (address) returns, the byte before that is looked up. */
static void print_function(struct show *show, uint64_t address, bool returned,
                           const char *name)
{
    const struct image *image = show->names.image;
    const struct image_symbol *symbol =
        image != NULL ? image_function(image, address - returned) : NULL;

    if (symbol == NULL && strncmp(name, "0x", 2) == 0) {
        fprintf(show->out, "0x%" PRIx64, address);
        return;
    }
    printable_put(show->out, name);
    if (symbol != NULL)
        fprintf(show->out, "+0x%" PRIx64, address - symbol->start);
}

static void print_line(struct show *show, uint32_t line)
{
    if (line == 0)
        return;
    fputs("  ", show->out);
    printable_put(show->out, names_text(&show->names, line));
}

/* ---- the instructions around it */

static void print_code(struct show *show)
{
    uint8_t bytes[CODE_BEFORE + CODE_AFTER];
    uint64_t ip = show->registers->ip;
    size_t before = ip < CODE_BEFORE ? (size_t)ip : CODE_BEFORE, count;

    count = sampler_read_some(show->sampler, show->cpu, ip - before, bytes,
                              before + CODE_AFTER);
    if (count <= before) { /* from another page, that is not there */
        before = 0;
        count =
            sampler_read_some(show->sampler, show->cpu, ip, bytes, CODE_AFTER);
    }
    if (count == 0) {
        fprintf(show->out, "  code: cannot be read at %0*" PRIx64 "\n",
                show->digits, ip);
        return;
    }
    fputs("  code:", show->out);
    for (size_t i = 0; i < count; ++i)
        fprintf(show->out, i == before ? " <%02x>" : " %02x", bytes[i]);
    fputc('\n', show->out);
}

/* ---- the words on its stack */

/* Whether (address), as a trace has it, is that of a caller. It may have been
 * interrupted there, so that no call is before it. */
static bool is_caller(const struct show *show, uint64_t address)
{
    for (size_t i = 1; i < show->callers.count; ++i)
        if (show->callers.addresses[i] == address)
            return true;
    return false;
}

/* Prints which function is continued at (value), if one is. */
static bool print_return(struct show *show, uint64_t value)
{
    struct places *places = unwind_places(show->sampler->unwinder);
    uint64_t address = places_traced(places, value);
    const struct frame *frames;
    size_t count;

    if (show->registers->mode == MODE_REAL ||
        (!is_caller(show, address) &&
         !sampler_after_call(show->sampler, show->cpu, value)))
        return false;
    frames = names_at(&show->names, address, true, &count);
    if (count == 0)
        return false;
    fputs("  ", show->out);
    print_function(show, address, true,
                   names_text(&show->names, frames[count - 1].function));
    print_line(show, frames[0].line);
    return true;
}

static uint64_t word_at(const uint8_t *bytes, unsigned word)
{
    uint64_t value = 0;

    for (unsigned i = word; i-- > 0;)
        value = value << 8 | bytes[i];
    return value;
}

/* Whether the line at (at) is full and as the one before. */
static bool repeats(const uint8_t *bytes, size_t at, size_t count)
{
    return at >= LINE_BYTES && count - at >= LINE_BYTES &&
           memcmp(bytes + at, bytes + at - LINE_BYTES, LINE_BYTES) == 0;
}

/* A line ends after a return address, or when it is full. Instead of those that
 * repeat one there is a star. */
static void print_words(struct show *show, uint64_t address,
                        const uint8_t *bytes, size_t count)
{
    unsigned word = show->word, used = 0;
    size_t full = 0; /* where the last line ended, if nothing is beside it */
    bool starred = false;

    for (size_t at = 0; at + word <= count; at += word) {
        uint64_t value = word_at(bytes + at, word);

        if (used == 0 && full == at && repeats(bytes, at, count)) {
            if (!starred)
                fputs("    *\n", show->out);
            starred = true;
            full = at + LINE_BYTES;
            at = full - word;
            continue;
        }
        starred = false;
        if (used == 0)
            fprintf(show->out, "    %0*" PRIx64 ":", show->digits,
                    address + at);
        fprintf(show->out, " %0*" PRIx64, (int)(2 * word), value);
        used += word;
        if (print_return(show, value)) {
            fputc('\n', show->out);
            used = 0;
        } else if (used == LINE_BYTES) {
            fputc('\n', show->out);
            used = 0;
            full = at + word;
        }
    }
    if (used > 0)
        fputc('\n', show->out);
}

static void print_stack(struct show *show, const struct register_values *values)
{
    uint8_t bytes[STACK_WORDS * sizeof(uint64_t)];
    uint64_t address = show->registers->sp;
    size_t count;

    if (show->registers->mode == MODE_REAL) {
        address &= 0xffff;
        if (address == 0 || !values->known[REGISTER_SS])
            return; /* there is none yet, or it is not known where */
        address += (values->values[REGISTER_SS] & 0xffff) << SEGMENT;
    }
    count = sampler_read_some(show->sampler, show->cpu, address, bytes,
                              (size_t)STACK_WORDS * show->word);
    fprintf(show->out,
            count >= show->word ? "  stack:\n"
                                : "  stack: cannot be read at %0*" PRIx64 "\n",
            show->digits, address);
    print_words(show, address, bytes, count);
}

/* ---- its callers */

static void print_frames(struct show *show)
{
    const struct unwind_stack *stack = &show->callers;
    unsigned number = 0;

    for (size_t i = 0; i < stack->count; ++i) {
        uint64_t address = stack->addresses[i];
        size_t count;
        const struct frame *frames =
            names_at(&show->names, address, i > 0, &count);

        for (size_t k = 0; k < count; ++k) {
            const char *name = names_text(&show->names, frames[k].function);

            fprintf(show->out, "  %2u  0x%0*" PRIx64 "  ", number++,
                    show->digits, address);
            if (k + 1 == count)
                print_function(show, address, i > 0, name);
            else /* inlined into the next one */
                printable_put(show->out, name);
            print_line(show, frames[k].line);
            fputc('\n', show->out);
        }
    }
}

static void show_cpu(struct show *show)
{
    static const char *const reasons[] = {
        [PROF_WALK_DEPTH] = "there are more callers",
        [PROF_WALK_ROOM] = "there are more callers",
        [PROF_WALK_UNALIGNED] = "the next frame is not aligned",
        [PROF_WALK_OUTSIDE] = "the next frame is not on the stack",
        [PROF_WALK_FALLING] = "the next frame is below this one",
        [PROF_WALK_NOT_CODE] = "the next address is not code",
    };
    struct sampler *sampler = show->sampler;
    struct register_values values = {0};
    struct unwind_stack *stack = &show->callers;
    /* where there is no image, a HLT is looked for at the second time */
    bool halted = !sampler_walk(sampler, show->cpu, stack) ||
                  !sampler_walk(sampler, show->cpu, stack);

    if (halted)
        sampler_unwind(sampler, show->cpu, stack);
    fprintf(show->out, "CPU %zu: %s, %s\n", show->cpu,
            halted ? "halted" : "running", modes[show->registers->mode]);
    if (machine_registers(sampler->machine, show->cpu, &values))
        registers_print(show->out, &values, show->registers->mode);
    print_code(show);
    print_stack(show, &values);
    fputs("  callers:\n", show->out);
    print_frames(show);
    if (stack->stopped != 0)
        fprintf(show->out, "      (%s)\n", reasons[stack->stopped]);
}

void show_cpus(FILE *out, struct sampler *sampler, struct image *image)
{
    static const unsigned words[] = {
        [MODE_REAL] = 2, [MODE_32] = 4, [MODE_64] = 8};
    struct show show = {.out = out, .sampler = sampler};

    names_open(&show.names, image, true, true);
    for (size_t i = 0; i < sampler->machine->cpu_count; ++i) {
        show.cpu = i;
        show.registers = &sampler->machine->cpus[i].registers;
        show.word = words[show.registers->mode];
        show.digits = show.registers->mode == MODE_64 ? 16 : 8;
        show_cpu(&show);
    }
    names_close(&show.names);
}
