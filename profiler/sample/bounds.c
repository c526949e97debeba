/* SPDX-License-Identifier: Apache-2.0 */

/* Which words of an unknown stack may be read, and whether a walk is at its
 * end; see cpu_state.h. Bounds that were found stay until a stack pointer is
 * not in them: so most samples of a stack do not come here. */

#include "sample/cpu_state.h"

#define WORD sizeof(uintptr_t)
#define PAGE 4096u
#define WINDOW (16u * 1024u) /* read from the stack pointer's page on */

/* Words above a walk's end that are looked at for a return address. */
#define LOOK_WORDS 128u

#define NEAR (1024u * 1024u) /* a frame so far above may be of the same stack */

#define PAGING (1u << 31) /* of CR0, Intel SDM vol. 3A, 2.5 */

static struct {
    struct prof_range memory, text;
    uintptr_t (*mapped_end)(uintptr_t address);
    uintptr_t user_end; /* user code is below; 0 = not known where */
} bounds;

/* Kernels in the upper part of the address space leave the rest to others. */
static uintptr_t user_end(uintptr_t kernel)
{
    uintptr_t half = UINTPTR_MAX / 2 + 1;

    if (kernel < half)
        return 0;
#ifdef __i386__
    return kernel & ~(uintptr_t)0x0fffffff; /* 2, 3 or 3.75 GiB are usual */
#else
    return half;
#endif
}

void prof_bounds_open(const struct prof_config *config)
{
    bounds.memory = config->memory;
    bounds.mapped_end = config->mapped_end;
    bounds.text = config->text;
    bounds.user_end = user_end(config->text.begin);
    prof_cpu_here()->end_place = prof_cpu_here()->end_next = 0;
}

static bool has_paging(void)
{
#ifdef PROF_HOSTED
    return true;
#else
    uintptr_t cr0;

    __asm__ volatile("mov %%cr0, %0" : "=r"(cr0));
    return (cr0 & PAGING) != 0;
#endif
}

/* The end of what may be read from (sp) on, 0 = nothing. */
static uintptr_t readable_end(struct prof_cpu *cpu, uintptr_t sp)
{
    uintptr_t page = sp & ~(uintptr_t)(PAGE - 1);

    cpu->found_exact = true;
    if (bounds.memory.begin != bounds.memory.end)
        return sp >= bounds.memory.begin && sp < bounds.memory.end
                   ? bounds.memory.end
                   : 0;
    if (bounds.mapped_end != NULL)
        return bounds.mapped_end(sp);
    cpu->found_exact = false;
    return has_paging() ? page + PAGE : page + WINDOW;
}

bool prof_bounds_find(uintptr_t sp)
{
    struct prof_cpu *cpu = prof_cpu_here();
    struct prof_stack_bounds *found = &cpu->found;
    uintptr_t page = sp & ~(uintptr_t)(PAGE - 1), end;

    if (!cpu->unknown_stack || page == 0)
        return false;
    end = readable_end(cpu, sp);
    if (end > page + WINDOW) {
        end = page + WINDOW;
        cpu->found_exact = false;
    }
    end -= end % WORD;
    if (end < sp + 2 * WORD)
        return false;
    prof_stack_bounds_set(found, page, end);
    if (page < bounds.memory.begin)
        found->begin = bounds.memory.begin;
    cpu->stack = found;
    return true;
}

static bool is_code(uintptr_t word)
{
    return word > bounds.text.begin && word < bounds.text.end;
}

bool prof_bounds_is_end(uintptr_t place, uintptr_t next)
{
    struct prof_cpu *cpu = prof_cpu_here();
    const struct prof_stack_bounds *stack = cpu->stack;
    uintptr_t end = (stack->last_frame + 2) * WORD, at, until;

    if (cpu->user_seen && next < bounds.user_end)
        return true;
    if (place == cpu->end_place && next == cpu->end_next)
        return true;
    at = (place + WORD - 1) & ~(uintptr_t)(WORD - 1);
    if (bounds.text.begin == bounds.text.end || at < stack->begin || at > end)
        return false;
    if (stack == &cpu->found && !cpu->found_exact && next - end < NEAR)
        return false; /* the stack goes on beyond what may be read */
    until = at + LOOK_WORDS * WORD;
    if (until > end)
        until = end;
    for (; at < until; at += WORD)
        if (is_code(*(const uintptr_t *)at))
            return false;
    cpu->end_place = place;
    cpu->end_next = next;
    return true;
}
