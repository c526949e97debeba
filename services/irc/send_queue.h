/* SPDX-License-Identifier: Apache-2.0 */
#ifndef IRC_SEND_QUEUE_H
#define IRC_SEND_QUEUE_H

#include "slice.h"

namespace irc
{

/*
 * Bytes that cannot be sent yet, in blocks on the heap, at most
 * SEND_QUEUE_BYTES. An empty queue has no blocks.
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

    /* False, with nothing added, if the queue would become too long or an
     * allocation fails. */
    bool add(Slice bytes);

    /* The oldest contiguous bytes; empty if there are none. */
    Slice front() const;

    /* Removes the oldest (count) bytes, at most front().count(). */
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
