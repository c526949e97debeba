/* SPDX-License-Identifier: Apache-2.0 */

/* Synthetic samples, and a transport that counts bytes. */

#include "growth.h"

#include <arch/boot.h>
#include <arch/cpu.h>
#include <prof/transport.h>

/* Two words at the stack pointer that point to no code, then the frames: the
 * next frame's address and the address to return to. */
#define HEAD 2u

static uintptr_t stack[HEAD + 2 * MADE_CALLERS_MAX];
static uint64_t sent;

static bool send(const void *packet, size_t bytes)
{
    (void)packet;
    sent += bytes;
    return true;
}

static const struct prof_transport counting = {.name = "counting",
                                               .send = send};

void made_begin(bool stream)
{
    prof_stack_set((uintptr_t)stack,
                   (uintptr_t)(stack + HEAD + 2 * MADE_CALLERS_MAX));
    prof_transport_use(stream ? &counting : NULL);
    growth_must(prof_start() == 0, "the start");
}

void made_caller(uint32_t level, uintptr_t place)
{
    stack[HEAD + 2 * level + 1] = place;
}

void made_callers(uint32_t count)
{
    for (uint32_t i = 0; i + 1 < count; i++)
        stack[HEAD + 2 * i] = (uintptr_t)&stack[HEAD + 2 * i + 2];
    if (count > 0)
        stack[HEAD + 2 * (count - 1)] = 0;
}

void made_sample(uintptr_t pc)
{
    bool on = arch_interrupts_save();

    prof_sample(pc, (uintptr_t)stack, (uintptr_t)&stack[HEAD]);
    arch_interrupts_restore(on);
}

uint64_t made_stream_bytes(void)
{
    return sent;
}

uint64_t made_flushed(void)
{
    growth_quiet = true; /* it answers */
    for (const char *at = "hello\n"; *at != '\0'; at++)
        (void)prof_command_byte((uint8_t)*at);
    return sent;
}

/* Not where the CPU halts: such samples have no stack. */
uintptr_t made_place(uint32_t number)
{
    uintptr_t step = (uintptr_t)(text_end - text_begin) / (MADE_PLACES + 1);
    uintptr_t place = (uintptr_t)text_begin + number % MADE_PLACES * step + 9;
    bool idle =
        place >= (uintptr_t)arch_idle_begin && place < (uintptr_t)arch_idle_end;

    return idle ? place + step / 2 : place;
}
