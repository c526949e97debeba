/* SPDX-License-Identifier: Apache-2.0 */
#include "send_queue.h"

#include "heap.h"

#include <string.h>

namespace irc
{

constexpr size_t BLOCK_BYTES = 4000; /* a page including overhead of malloc */

struct SendQueue::Block {
    Block *next = nullptr;
    size_t begin = 0;
    size_t end = 0;
    char bytes[BLOCK_BYTES];
};

SendQueue::~SendQueue()
{
    all_ -= count_;
    while (first_ != nullptr) {
        Block *next = first_->next;

        Heap<Block>::end(first_);
        first_ = next;
    }
}

/* Bytes that a queue may have now. */
size_t SendQueue::most()
{
    return all_ > SEND_QUEUES_BYTES ? SEND_QUEUE_SHORT_BYTES : SEND_QUEUE_BYTES;
}

bool SendQueue::grow()
{
    Block *block = Heap<Block>::make();

    if (block == nullptr)
        return false;
    (last_ != nullptr ? last_->next : first_) = block;
    last_ = block;
    return true;
}

bool SendQueue::add(Slice bytes)
{
    /* a line is shorter than a block, so one more suffices */
    size_t room = last_ != nullptr ? BLOCK_BYTES - last_->end : 0;
    size_t now = bytes.count() < room ? bytes.count() : room;

    if (bytes.count() > BLOCK_BYTES || count_ + bytes.count() > most())
        return false;
    Block *old = last_;
    if (now < bytes.count() && !grow())
        return false;
    if (now > 0)
        memcpy(old->bytes + old->end, bytes.begin(), now);
    if (old != nullptr)
        old->end += now;
    if (now < bytes.count()) {
        last_->end = bytes.count() - now;
        memcpy(last_->bytes, bytes.begin() + now, last_->end);
    }
    count_ += bytes.count();
    all_ += bytes.count();
    return true;
}

Slice SendQueue::front() const
{
    if (first_ == nullptr)
        return Slice();
    return Slice(first_->bytes + first_->begin, first_->end - first_->begin);
}

void SendQueue::remove(size_t count)
{
    count_ -= count;
    all_ -= count;
    first_->begin += count;
    if (first_->begin < first_->end)
        return;
    Block *next = first_->next;

    Heap<Block>::end(first_);
    first_ = next;
    if (first_ == nullptr)
        last_ = nullptr;
}

} // namespace irc
