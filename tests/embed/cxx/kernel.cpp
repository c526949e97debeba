/* SPDX-License-Identifier: Apache-2.0 */

/*
 * A kernel in C++, linked with --gc-sections: it calls constructors, and ticks
 * at 1,024 Hz by the PC's clock, not by the PIT. Six parts of the time go to
 * sums of int, three to sums of long, one to Orders::close().
 */

#include "kernel.h"

#include <prof/prof.h>

extern "C" {
extern void (*const constructors_begin[])();
extern void (*const constructors_end[])();
}

static volatile unsigned long ticks;

extern "C" void timer_interrupt(const interrupted *at)
{
    ticks = ticks + 1;
    prof_sample(at->rip, at->rsp, at->rbp);
    pc_rtc_done();
}

namespace shop
{

template <class Number> class Sum
{
  public:
    explicit Sum(unsigned steps) : steps(steps)
    {
    }
    [[gnu::noinline]] void add() const
    {
        for (unsigned i = 0; i < steps; i++)
            __asm__ volatile("" : : : "memory");
    }

  private:
    unsigned steps;
};

class Orders
{
  public:
    Orders() : small(6000), large(3000), rest(1000)
    {
        constructed++;
    }
    [[gnu::noinline]] void take() const
    {
        small.add();
        large.add();
        close();
    }
    static int constructed;

  private:
    [[gnu::noinline]] void close() const
    {
        for (unsigned i = 0; i < rest; i++)
            __asm__ volatile("" : : : "memory");
    }
    Sum<int> small;
    Sum<long> large;
    unsigned rest;
};

int Orders::constructed;
static Orders orders;

} // namespace shop

extern "C" void kernel_main()
{
    for (auto make = constructors_begin; make != constructors_end; make++)
        (*make)();
    if (shop::Orders::constructed != 1)
        pc_exit(2);
    if (!profiler_start())
        pc_exit(1);
    start_interrupts(PC_VECTOR + PC_LINE_RTC);
    pc_rtc_start();
    while (ticks < 2560) {
        shop::orders.take();
        prof_poll();
    }
    (void)prof_option("prof.report=folded");
    prof_report();
    pc_exit(0);
}
