/* SPDX-License-Identifier: Apache-2.0 */
#ifndef IRC_HEAP_H
#define IRC_HEAP_H

#include <stddef.h>
#include <stdlib.h>

namespace irc
{

/* Where an object is to begin; a type of our own, since whoever has a C++
 * library has its placement new. */
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
 * Makes and ends objects on the kernel's heap and counts those that live.
 * There is no operator new in this image, so nothing throws: where memory is
 * refused, make() says nullptr.
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
