/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COROUTINES_TRACED_H
#define COROUTINES_TRACED_H

/*
 * The adaptor from C++20 coroutines to <prof/trace.h> and <prof/loop.h>. A
 * runtime derives the promise of its coroutines from Coroutine and what they
 * can await from Source.
 *
 *     call of a coroutine     create, switch to it
 *     co_await, not ready     try_read, suspend, switch to whoever ran before
 *     Source::complete()        resolve, wake
 *     Coroutine::go_on()      switch to it, read
 *     co_return               resolve, wake, switch to whoever ran before
 */

#include "coroutine.h"

#include <prof/loop.h>
#include <prof/trace.h>

namespace traced
{

/* Something that has a value later. One coroutine at a time may wait. */
struct Source {
    Source(prof_trace_kind kind, prof_trace_name &site)
        : object(prof_trace_create(kind, &site)), name(&site)
    {
    }
    /* If it is a coroutine: it is to be passed to go_on() soon. */
    virtual void make_ready()
    {
    }
    void complete(int with)
    {
        value = with;
        completed = true;
        prof_trace_resolve(object);
        if (loop != nullptr)
            prof_loop_end(loop, PROF_LOOP_RESOLVED);
        if (waiter == nullptr)
            return;
        prof_trace_wake(waiter->object, object);
        if (waiter->loop != nullptr)
            prof_loop_wake(waiter->loop);
        waiter->make_ready();
    }

    uint32_t object;
    prof_trace_name *name;
    int value = 0;
    bool completed = false;
    Source *waiter = nullptr;
    prof_loop_task *loop = nullptr;     /* of a coroutine */
    static inline uint32_t loop_number; /* of the last one, while not traced */
};

/* Base of a coroutine's promise: a source itself, whose value it returns. The
 * first argument of a coroutine is its site. */
struct Coroutine : Source {
    explicit Coroutine(prof_trace_name &site) : Source(PROF_TRACE_TASK, site)
    {
        prof_loop_create(&task, &site,
                         prof_trace_is_on() ? object : ++loop_number);
        loop = &task;
    }
    void go_on(std::coroutine_handle<> handle)
    {
        enter();
        handle.resume();
    }
    void enter()
    {
        before = prof_trace_current();
        prof_trace_switch(object);
        prof_loop_run(&task);
    }
    void leave()
    {
        prof_loop_pause(&task);
        prof_trace_switch(before);
    }

    uint32_t before = PROF_TRACE_NONE; /* who started or resumed it */
    prof_loop_task task = {};
};

/* For await_transform() of a promise: (source) is awaited by (self). */
struct Await {
    bool await_ready() const noexcept
    {
        return source.completed;
    }
    void await_suspend(std::coroutine_handle<>) const
    {
        prof_trace_try_read(source.object);
        prof_trace_suspend(source.name);
        source.waiter = &self;
        self.leave();
    }
    int await_resume() const
    {
        prof_trace_read(source.object);
        return source.value;
    }
    Source &source;
    Coroutine &self;
};

} // namespace traced

#endif
