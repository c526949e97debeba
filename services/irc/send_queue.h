/* SPDX-License-Identifier: Apache-2.0 */
#ifndef IRC_SEND_QUEUE_H
#define IRC_SEND_QUEUE_H

#include "slice.h"

namespace irc
{

/*
 * Bytes that cannot be sent yet, in blocks on the heap, at most
 * SEND_QUEUE_BYTES. An empty queue has no blocks.
 *
 * While all queues together have more than SEND_QUEUES_BYTES, none may become
 * longer than SEND_QUEUE_SHORT_BYTES: clients that do not read then cannot use
 * up the heap, however many they are.
 */
constexpr size_t SEND_QUEUE_BYTES = 65536;
constexpr size_t SEND_QUEUE_SHORT_BYTES = 8192;
constexpr size_t SEND_QUEUES_BYTES = 16u << 20;

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

    static size_t most();
    bool grow();

    static inline size_t all_ = 0; /* bytes in all queues */

    Block *first_ = nullptr;
    Block *last_ = nullptr;
    size_t count_ = 0;
};

} // namespace irc

#endif
