/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Parasite in a payload of coreboot's libpayload, i386. libpayload does not use
 * interrupts: the profiler has the PIT for itself. ld --wrap calls this file
 * before the payload's main(), and from all that waits.
 */

#include <exception.h>
#include <libpayload.h>
#include <prof/begin.h>
#include <prof/pic.h>

#define SERIAL_PORT 0x3f8

extern char _start[], _edata[];
int __real_main(int argc, char **argv);
void __real_arch_ndelay(uint64_t ns);

void (*current_eoi_mechanism)(void) = prof_pic_done;

void prof_port_write(const char *text, size_t bytes)
{
    while (bytes-- > 0)
        outb(*text++, SERIAL_PORT);
}

int __wrap_main(int argc, char **argv)
{
    static const struct prof_config config = {
        .tick = {.kind = PROF_TICK_OWN_PIT, .vector = 32},
        .text = {(uintptr_t)_start, (uintptr_t)_edata},
    };

    prof_pic_open(config.tick.vector);
    prof_begin(&config);
    enable_interrupts();
    return __real_main(argc, argv);
}

void __wrap_arch_ndelay(uint64_t ns)
{
    __real_arch_ndelay(ns);
    prof_poll();
}
