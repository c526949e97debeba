/* SPDX-License-Identifier: Apache-2.0 */
/*
 * C++20 coroutines, recorded with prof.trace=stream: a runtime that is not the
 * kernel's, in the same traces. traced.h is all that it takes.
 */

#include "task.h"

#include <kernel/console.h>
#include <kernel/service.h>

namespace
{

int result = -1;

Task step(prof_trace_name &, unsigned ms, int value)
{
    static PROF_TRACE_SITE(site, "pause");
    Sleep pause(site, ms);

    co_await pause;
    co_return value;
}

/* Two steps at the same time, and one that needs both. */
Task add(prof_trace_name &)
{
    static PROF_TRACE_SITE(left, "left step");
    static PROF_TRACE_SITE(right, "right step");
    static PROF_TRACE_SITE(last, "last step");
    Task first = step(left, 30, 20), second = step(right, 20, 21);
    int sum = co_await first + co_await second;
    Task third = step(last, 10, 1);

    co_return sum + co_await third;
}

Task program(prof_trace_name &)
{
    static PROF_TRACE_SITE(site, "sum");
    Task sum = add(site);

    result = co_await sum;
    console_line("coroutines: the sum is %d", result);
    loop_stop();
    co_return 0;
}

} // namespace

extern "C" int service_main(void)
{
    static PROF_TRACE_SITE(site, "program");
    Task all = program(site);

    loop_run();
    return result == 42 ? 0 : 1;
}
