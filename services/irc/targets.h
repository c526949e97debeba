/* SPDX-License-Identifier: Apache-2.0 */
#ifndef IRC_TARGETS_H
#define IRC_TARGETS_H

#include "slice.h"

namespace irc
{

/* Recipients of one PRIVMSG or NOTICE, and channels of one NAMES: each further
 * one would multiply what a single line costs, for whoever gets it. */
constexpr unsigned TARGETS_MAX = 4;

/* The different ones of a list, ignoring case, up to TARGETS_MAX. */
class Targets
{
  public:
    explicit Targets(Slice list) : rest_(list)
    {
    }

    /* False: there are no more, or too many: then too_many() is the first of
     * those. */
    bool next(Slice &target)
    {
        while (!rest_.empty()) {
            target = rest_.take_until(',');
            if (target.empty() || seen(target))
                continue;
            if (count_ == TARGETS_MAX) {
                too_many_ = target;
                return false;
            }
            seen_[count_++] = target;
            return true;
        }
        return false;
    }
    Slice too_many() const
    {
        return too_many_;
    }

  private:
    bool seen(Slice target) const
    {
        for (unsigned i = 0; i < count_; i++)
            if (seen_[i].is(target))
                return true;
        return false;
    }

    Slice rest_;
    Slice too_many_;
    Slice seen_[TARGETS_MAX];
    unsigned count_ = 0;
};

} // namespace irc

#endif
