// SPDX-License-Identifier: Apache-2.0
#ifndef STAND_IN_PIT_HPP
#define STAND_IN_PIT_HPP

#include <chrono>
#include <hertz>

namespace hw
{

class PIT
{
  public:
    using timeout_handler = void (*)();

    static PIT &instance();
    static constexpr MHz frequency()
    {
        return {1193182};
    }
    // It ticks at 1,000 Hz from the first one on; the handler is called by
    // the event loop, not by the interrupt.
    uint32_t on_repeated_timeout(std::chrono::milliseconds, timeout_handler);

    void tick();
    void call_expired();

  private:
    volatile uint32_t ticks = 0;
    uint32_t interval = 0, due = 0;
    timeout_handler handler = nullptr;
};

} // namespace hw

#endif
