/* SPDX-License-Identifier: Apache-2.0 */
/* The stacks of all CPUs, as text. */

#include "attach/once.h"

#include "image/names.h"

#include <inttypes.h>

static const char *const modes[] = {
    [MODE_REAL] = "16-bit",
    [MODE_32] = "32-bit",
    [MODE_64] = "64-bit",
};

static void print_frames(FILE *out, struct names *names,
                         const struct unwind_stack *stack, int digits)
{
    unsigned number = 0;

    for (size_t i = 0; i < stack->count; ++i) {
        size_t count;
        const struct frame *frames =
            names_at(names, stack->addresses[i], i > 0, &count);

        for (size_t k = 0; k < count; ++k) {
            const char *line =
                frames[k].line != 0 ? names_text(names, frames[k].line) : "";

            fprintf(out, "  %2u  0x%0*" PRIx64 "  %s%s%s\n", number++, digits,
                    stack->addresses[i], names_text(names, frames[k].function),
                    *line != '\0' ? "  " : "", line);
        }
    }
}

void once_print(FILE *out, struct sampler *sampler, struct image *image)
{
    static const char *const reasons[] = {
        [PROF_WALK_DEPTH] = "there are more callers",
        [PROF_WALK_ROOM] = "there are more callers",
        [PROF_WALK_UNALIGNED] = "the next frame is not aligned",
        [PROF_WALK_OUTSIDE] = "the next frame is not on the stack",
        [PROF_WALK_FALLING] = "the next frame is below this one",
        [PROF_WALK_NOT_CODE] = "the next address is not code",
    };
    struct names names;
    struct machine *machine = sampler->machine;

    names_open(&names, image, true, true);
    for (size_t i = 0; i < machine->cpu_count; ++i) {
        const struct registers *registers = &machine->cpus[i].registers;
        struct unwind_stack stack;
        bool halted = !sampler_walk(sampler, i, &stack);

        if (halted)
            sampler_unwind(sampler, i, &stack);
        fprintf(out, "CPU %zu: %s, %s\n", i, halted ? "halted" : "running",
                modes[registers->mode]);
        print_frames(out, &names, &stack, registers->mode == MODE_64 ? 16 : 8);
        if (stack.stopped != 0)
            fprintf(out, "      (%s)\n", reasons[stack.stopped]);
    }
    names_close(&names);
}
