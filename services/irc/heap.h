/* SPDX-License-Identifier: Apache-2.0 */
#ifndef IRC_HEAP_H
#define IRC_HEAP_H

#include <stddef.h>
#include <stdlib.h>

namespace irc
{

/* Argument of placement new; a type of its own, because that for void * may be
 * defined by a C++ library. */
struct Place {
    void *bytes;
};

} // namespace irc

inline void *operator new(size_t, irc::Place place) noexcept
{
    return place.bytes;
}

namespace irc
{

/*
 * Creates and deletes objects on the kernel's heap and counts them. There is no
 * operator new in this image and nothing throws: without memory, make() returns
 * nullptr.
 */
template <class Item> class Heap
{
  public:
    template <class... Arguments> static Item *make(Arguments &&...arguments)
    {
        void *place = malloc(sizeof(Item));

        if (place == nullptr)
            return nullptr;
        live_++;
        return new (Place{place}) Item(static_cast<Arguments &&>(arguments)...);
    }

    static void end(Item *item)
    {
        item->~Item();
        free(item);
        live_--;
    }

    static unsigned live()
    {
        return live_;
    }

  private:
    static inline unsigned live_;
};

} // namespace irc

#endif
