/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Parasite in U-Boot for x86, 32 bits. U-Boot does not use the PIT's interrupt:
 * the profiler has it for itself. U-Boot copies itself from the ROM to the end
 * of the memory; ld --wrap calls this file when it is there, and from
 * schedule(), which the prompt and every long command call again and again.
 */

#include <prof/begin.h>
#include <prof/pic.h>

extern char __text_start[], __data_end[];
void __real_main_loop(void), __real_schedule(void);
__attribute__((regparm(3))) void putc(char c);

void (*current_eoi_mechanism)(void) = prof_pic_done;

void prof_port_write(const char *text, size_t bytes)
{
    while (bytes-- > 0)
        putc(*text++);
}

/* A variable, so that no address in it is less a constant in the linked file:
 * U-Boot would not know that it has to move it. */
struct prof_config parasite_config = {
    .tick = {.kind = PROF_TICK_OWN_PIT, .vector = 32},
    .text = {(uintptr_t)__text_start, (uintptr_t)__data_end},
};

void __wrap_main_loop(void)
{
    prof_symbols_moved(parasite_config.text.begin - LINKED_AT);
    prof_begin(&parasite_config);
    prof_pic_done(); /* the tick before, which U-Boot does not acknowledge */
    __real_main_loop();
}

void __wrap_schedule(void)
{
    __real_schedule();
    prof_poll();
}
