/* SPDX-License-Identifier: Apache-2.0 */

/*
 * A stand-in for IncludeOS 0.9: as much as kits/includeos calls of it, declared
 * as IncludeOS documents it, on a PC of 32 bits. Constructors run first, then
 * what they have registered, then the service, an event loop that answers
 * requests (work.h), looks through its store (names.asm), calls the handlers of
 * timers and halts. The PIT ticks at 1,000 Hz once there is a timer.
 *
 * The event loop reports what it does, as one can be made to: what an interrupt
 * defers, and who holds it. It sets nothing up: the kit does that with one
 * call, and prof_poll() the rest.
 *
 * What IncludeOS has is here as well: names that fill 100 KB, more call stacks
 * than PROF_POOL_DEFAULT has room for, a heap, and a command line that is known
 * by a call.
 */

#define PC_VECTOR IRQ_BASE

#include <hw/pit.hpp>
#include <kernel/irq_manager.hpp>
#include <os>

#include "../pc.h"
#include "../work.h"

#include <prof/loop.h>
#include <prof/prof.h>
#include <prof/trace.h>

#define SERVICE_TICKS 2500
#define HEAP_BYTES (16u << 20)
#define REQUESTS 8  /* between two halts */
#define LOOKS 24    /* into the store for each of them */
#define WARES 10500 /* names.asm */

struct frame;

extern "C" {
extern void (*const constructors_begin[])();
extern void (*const constructors_end[])();
extern uint64_t idt[];
extern void (*const wares[WARES])();
void *malloc(size_t bytes);
void kernel_main(const uint32_t *information);
extern void (*current_eoi_mechanism)();
}

static OS::Custom_init custom_init;
static Command_line line = {""};
static size_t heap_used;
static volatile uint32_t running_ticks;
static PROF_TRACE_SITE(timers_site, "timers");
static PROF_TRACE_SITE(requests_site, "requests");
static volatile uint64_t asked_tsc; // of the tick that timers are due by
static uint32_t timers;             // their number to the recorder

static uint64_t tsc()
{
    uint32_t low, high;

    __asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
    return uint64_t(high) << 32 | low;
}

static void eoi()
{
    pc_pic_done(PC_LINE_PIT);
}
void (*current_eoi_mechanism)() = eoi;

[[gnu::interrupt]] static void timer_entry(frame *)
{
    prof_loop_irq_enter();
    prof_trace_irq_enter(IRQ_BASE);
    hw::PIT::instance().tick();
    current_eoi_mechanism();
    prof_trace_irq_exit(IRQ_BASE);
    prof_loop_irq_exit();
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
    if (handler == nullptr || ticks - due < interval || asked_tsc != 0)
        return;
    asked_tsc = tsc();
    prof_trace_defer(IRQ_BASE, timers);
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
    prof_loop_frame frame;
    uint64_t asked = asked_tsc;
    asked_tsc = 0;
    prof_trace_switch(timers);
    prof_loop_begin_asked(&frame, &timers_site, asked);
    handler();
    prof_loop_leave(&frame);
    prof_trace_switch(PROF_TRACE_NONE);
}

size_t OS::print(const char *text, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        pc_put(text[i]);
    return bytes;
}

[[gnu::noinline]] void OS::halt()
{
    __asm__ volatile("hlt; .global _irq_cb_return_location;"
                     "_irq_cb_return_location:");
}

const Command_line &Service::command_line()
{
    return line;
}

void *malloc(size_t bytes)
{
    alignas(16) static unsigned char heap[HEAP_BYTES];
    void *block = heap + heap_used;

    if (bytes > sizeof heap - heap_used)
        return nullptr;
    heap_used += (bytes + 15) & ~size_t(15);
    return block;
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

[[gnu::noinline]] static void look_up()
{
    static uint32_t random = 1;

    for (int i = 0; i < LOOKS; i++) {
        random = random * 1664525 + 1013904223;
        wares[(random >> 8) % WARES]();
    }
}

static void serve()
{
    prof_loop_frame frame;

    prof_loop_begin(&frame, &requests_site);
    for (int i = 0; i < REQUESTS; i++) {
        answer();
        look_up();
    }
    prof_loop_leave(&frame);
}

static void wait()
{
    prof_loop_frame frame;

    prof_loop_idle(&frame);
    OS::halt();
    prof_loop_idle_end(&frame);
}

void kernel_main(const uint32_t *information)
{
    if ((information[0] & 4) != 0)
        line.text = reinterpret_cast<const char *>(information[4]);
    for (auto constructor = constructors_begin; constructor != constructors_end;
         constructor++)
        (*constructor)();
    start_interrupts();
    if (custom_init == nullptr)
        pc_exit(1);
    custom_init();
    timers = prof_trace_create(PROF_TRACE_CALLBACK, &timers_site);
    prof_trace_switch(PROF_TRACE_NONE); // the event loop
    while (running_ticks < SERVICE_TICKS) {
        serve();
        hw::PIT::instance().call_expired();
        wait();
    }
    prof_report();
    (void)prof_option("prof.report=folded");
    prof_report();
    pc_exit(heap_used == 0 ? 2 : 0);
}
