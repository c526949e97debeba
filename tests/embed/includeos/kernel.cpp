/* SPDX-License-Identifier: Apache-2.0 */

/*
 * A stand-in for IncludeOS 0.9: as much as kits/includeos calls of it, declared
 * as IncludeOS documents it, on a PC of 32 bits. Constructors run first, then
 * what they have registered, then the service, an event loop that answers
 * requests (work.h) and calls the handlers of timers. The PIT ticks at 1,000 Hz
 * once there is a timer.
 */

#define PC_VECTOR IRQ_BASE

#include <hw/pit.hpp>
#include <kernel/irq_manager.hpp>
#include <os>

#include "../pc.h"
#include "../work.h"

#include <prof/prof.h>

#define SERVICE_TICKS 2500

struct frame;

extern "C" {
extern void (*const constructors_begin[])();
extern void (*const constructors_end[])();
extern uint64_t idt[];
void kernel_main();
extern void (*current_eoi_mechanism)();
}

static OS::Custom_init custom_init;
static volatile uint32_t running_ticks;

static void eoi()
{
    pc_pic_done(PC_LINE_PIT);
}
void (*current_eoi_mechanism)() = eoi;

[[gnu::interrupt]] static void timer_entry(frame *)
{
    hw::PIT::instance().tick();
    current_eoi_mechanism();
}

hw::PIT &hw::PIT::instance()
{
    static constinit PIT pit;

    return pit;
}

void hw::PIT::tick()
{
    ticks = ticks + 1;
    running_ticks = ticks;
}

uint32_t hw::PIT::on_repeated_timeout(std::chrono::milliseconds every,
                                      timeout_handler call)
{
    interval = uint32_t(every.count());
    handler = call;
    pc_pit_start(uint16_t(KHz(frequency()).count()));
    return 1;
}

void hw::PIT::call_expired()
{
    if (handler == nullptr || ticks - due < interval)
        return;
    due = ticks;
    handler();
}

size_t OS::print(const char *text, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        pc_put(text[i]);
    return bytes;
}

void OS::register_custom_init(Custom_init init, const char *)
{
    custom_init = init;
}

static void start_interrupts()
{
    auto entry = uint32_t(&timer_entry);

    idt[IRQ_BASE] =
        uint64_t(entry >> 16) << 48 | 0x8e0000080000 | (entry & 0xffff);
    pc_pic_start(1 << PC_LINE_PIT);
    __asm__ volatile("sti");
}

void kernel_main()
{
    for (auto constructor = constructors_begin; constructor != constructors_end;
         constructor++)
        (*constructor)();
    start_interrupts();
    if (custom_init == nullptr)
        pc_exit(1);
    custom_init();
    while (running_ticks < SERVICE_TICKS) {
        answer();
        hw::PIT::instance().call_expired();
    }
    (void)prof_option("prof.report=folded");
    prof_report();
    pc_exit(0);
}
