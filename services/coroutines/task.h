/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COROUTINES_TASK_H
#define COROUTINES_TASK_H

/*
 * A small runtime of C++20 coroutines on the kernel's event loop. It uses none
 * of the kernel's own tasks.
 *
 *     Task fetch(prof_trace_name &site, unsigned ms)
 *     {
 *         static PROF_TRACE_SITE(slept, "sleep");
 *         Sleep sleep(slept, ms);
 *
 *         co_return co_await sleep;
 *     }
 *
 * A coroutine runs at once until it first has to wait. Without memory a Task is
 * empty: awaiting it gives -1.
 */

#include "traced.h"

#include <kernel/clock.h>
#include <kernel/loop.h>
#include <stdlib.h>

class Task
{
  public:
    class promise_type;
    using Handle = std::coroutine_handle<promise_type>;

    explicit Task(Handle handle) : coroutine(handle)
    {
    }
    Task(const Task &) = delete;
    ~Task()
    {
        if (coroutine)
            coroutine.destroy();
    }
    Handle coroutine;
};

class Task::promise_type final : public traced::Coroutine
{
  public:
    template <class... Rest>
    explicit promise_type(prof_trace_name &site, Rest &...)
        : traced::Coroutine(site)
    {
    }
    static void *operator new(size_t bytes) noexcept
    {
        return malloc(bytes);
    }
    static void operator delete(void *frame)
    {
        free(frame);
    }
    static Task get_return_object_on_allocation_failure()
    {
        return Task(Handle());
    }
    Task get_return_object()
    {
        return Task(Handle::from_promise(*this));
    }
    std::suspend_never initial_suspend()
    {
        enter();
        return {};
    }

    /* The frame remains until its Task is gone. */
    struct End {
        bool await_ready() const noexcept
        {
            return false;
        }
        void await_suspend(Handle handle) const noexcept
        {
            handle.promise().leave();
        }
        void await_resume() const noexcept
        {
        }
    };
    End final_suspend() noexcept
    {
        return {};
    }
    void return_value(int result)
    {
        complete(result);
    }
    void unhandled_exception()
    {
    }
    traced::Await await_transform(traced::Source &source)
    {
        return {source, *this};
    }
    traced::Await await_transform(Task &task)
    {
        if (!task.coroutine)
            return {no_memory(), *this};
        return {task.coroutine.promise(), *this};
    }
    void make_ready() override
    {
        loop_once(&turn, 0, run, this);
    }

  private:
    static traced::Source &no_memory()
    {
        static PROF_TRACE_SITE(site, "no memory");
        static traced::Source source(PROF_TRACE_PROMISE, site);

        if (!source.completed)
            source.complete(-1);
        return source;
    }
    static void run(void *self)
    {
        promise_type &promise = *static_cast<promise_type *>(self);

        promise.go_on(Handle::from_promise(promise));
    }
    loop_timer turn = {};
};

/* Awaited, it ends after so many milliseconds from its beginning. */
class Sleep final : public traced::Source
{
  public:
    Sleep(prof_trace_name &site, unsigned ms)
        : traced::Source(PROF_TRACE_SLEEP, site)
    {
        loop_once(&timer, ms * NS_PER_MS, over, this);
    }
    Sleep(const Sleep &) = delete;
    ~Sleep()
    {
        loop_cancel(&timer);
    }

  private:
    static void over(void *self)
    {
        static_cast<Sleep *>(self)->complete(0);
    }
    loop_timer timer = {};
};

#endif
