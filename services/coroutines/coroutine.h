/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COROUTINES_COROUTINE_H
#define COROUTINES_COROUTINE_H

/* What g++ needs of <coroutine> for -fcoroutines, since there is no C++ library
 * in an image: ISO C++20, [support.coroutine]. */

#include <stddef.h>

namespace std
{

template <class Result, class...> struct coroutine_traits {
    using promise_type = typename Result::promise_type;
};

template <class Promise = void> class coroutine_handle;

template <> class coroutine_handle<void>
{
  public:
    constexpr coroutine_handle() noexcept = default;
    static constexpr coroutine_handle from_address(void *address) noexcept
    {
        coroutine_handle handle;

        handle.frame = address;
        return handle;
    }
    constexpr void *address() const noexcept
    {
        return frame;
    }
    explicit constexpr operator bool() const noexcept
    {
        return frame != nullptr;
    }
    void resume() const
    {
        __builtin_coro_resume(frame);
    }
    void destroy() const
    {
        __builtin_coro_destroy(frame);
    }

  protected:
    void *frame = nullptr;
};

template <class Promise> class coroutine_handle : public coroutine_handle<>
{
  public:
    static constexpr coroutine_handle from_address(void *address) noexcept
    {
        coroutine_handle handle;

        handle.frame = address;
        return handle;
    }
    static coroutine_handle from_promise(Promise &promise) noexcept
    {
        return from_address(__builtin_coro_promise(
            reinterpret_cast<char *>(&promise), alignof(Promise), true));
    }
    Promise &promise() const noexcept
    {
        return *static_cast<Promise *>(
            __builtin_coro_promise(frame, alignof(Promise), false));
    }
};

struct suspend_never {
    constexpr bool await_ready() const noexcept
    {
        return true;
    }
    constexpr void await_suspend(coroutine_handle<>) const noexcept
    {
    }
    constexpr void await_resume() const noexcept
    {
    }
};

} // namespace std

#endif
