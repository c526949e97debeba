/* SPDX-License-Identifier: Apache-2.0 */
#ifndef IRC_SEND_QUEUE_H
#define IRC_SEND_QUEUE_H

#include "slice.h"

namespace irc
{

/*
 * What a client should get but does not take: bytes in blocks on the heap, at
 * most SEND_QUEUE_BYTES. Nothing is held while there is nothing to hold.
 */
constexpr size_t SEND_QUEUE_BYTES = 65536;

class SendQueue
{
  public:
    SendQueue() = default;
    SendQueue(const SendQueue &) = delete;
    SendQueue &operator=(const SendQueue &) = delete;
    ~SendQueue();

    bool empty() const
    {
        return count_ == 0;
    }

    /* False, with nothing added, where it would grow too long or memory is
     * refused. */
    bool add(Slice bytes);

    /* The oldest bytes that lie together; empty where there are none. */
    Slice front() const;

    /* Takes the oldest (count) bytes away, at most as many as front() has. */
    void remove(size_t count);

  private:
    struct Block;

    bool grow();

    Block *first_ = nullptr;
    Block *last_ = nullptr;
    size_t count_ = 0;
};

} // namespace irc

#endif
