/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Parasite in IncludeOS 0.9: on its PIT, through its IRQ manager's gate of
 * line 0, with its own current_eoi_mechanism. A timer keeps the PIT at its
 * 1,000 Hz, and polls.
 */

#include <cstdlib>
#include <hw/pit.hpp>
#include <kernel/irq_manager.hpp>
#include <os>
#include <prof/begin.h>

using namespace std::chrono;

PROF_SYMBOLS_RESERVE(131072); // a web server has 101,360 bytes of names

extern char _TEXT_START_, _INIT_END_, _irq_cb_return_location;

void prof_port_write(const char *text, size_t bytes)
{
    OS::print(text, bytes);
}

static void start()
{
    prof_config config{};

    hw::PIT::instance().on_repeated_timeout(5ms, [] { prof_poll(); });
    config.tick.kernel_divisor = KHz(hw::PIT::frequency()).count();
    config.tick.vector = IRQ_BASE + 0;
    config.text = {uintptr_t(&_TEXT_START_), uintptr_t(&_INIT_END_)};
    // OS::halt() up to where its hlt goes on
    config.idle = {uintptr_t(&OS::halt),
                   uintptr_t(&_irq_cb_return_location) + 1};
    config.pool_bytes = 8 << 20;
    config.pool = malloc(config.pool_bytes);
    prof_begin_with(&config, Service::command_line().c_str(), nullptr, 0);
}

__attribute__((constructor)) static void parasite()
{
    OS::register_custom_init(start, "Parasite");
}
