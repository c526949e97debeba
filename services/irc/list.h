/* SPDX-License-Identifier: Apache-2.0 */
#ifndef IRC_LIST_H
#define IRC_LIST_H

namespace irc
{

/* An item's place in one list; the item has one for each list it may be in. */
template <class Item> struct Hook {
    Item *next = nullptr;
    Item **back = nullptr; /* what points at the item; nullptr = in no list */

    bool linked() const
    {
        return back != nullptr;
    }
};

/*
 * A list of items that somebody else owns, linked through their Hook Member:
 * no memory, and items leave it without a search. Items MUST NOT be removed
 * while somebody goes through the list.
 */
template <class Item, Hook<Item> Item::*Member> class List
{
  public:
    class Iterator
    {
      public:
        explicit Iterator(Item *item) : item_(item)
        {
        }
        Item &operator*() const
        {
            return *item_;
        }
        Iterator &operator++()
        {
            item_ = (item_->*Member).next;
            return *this;
        }
        bool operator!=(const Iterator &other) const
        {
            return item_ != other.item_;
        }

      private:
        Item *item_;
    };

    Iterator begin() const
    {
        return Iterator(first_);
    }
    Iterator end() const
    {
        return Iterator(nullptr);
    }
    Item *first() const
    {
        return first_;
    }

    void add(Item &item)
    {
        Hook<Item> &hook = item.*Member;

        hook.next = first_;
        hook.back = &first_;
        if (first_ != nullptr)
            (first_->*Member).back = &hook.next;
        first_ = &item;
    }

    void remove(Item &item)
    {
        Hook<Item> &hook = item.*Member;

        *hook.back = hook.next;
        if (hook.next != nullptr)
            (hook.next->*Member).back = hook.back;
        hook = Hook<Item>();
    }

  private:
    Item *first_ = nullptr;
};

/*
 * Items by a name of theirs, whatever its case: lists in buckets. An item MUST
 * keep its name while it is in the table.
 */
template <class Item, Hook<Item> Item::*Member, auto Name, unsigned Buckets>
class NameTable
{
  public:
    template <class Key> Item *find(Key name) const
    {
        for (Item &item : buckets_[name.hash() % Buckets])
            if ((item.*Name)().is(name))
                return &item;
        return nullptr;
    }
    void add(Item &item)
    {
        buckets_[(item.*Name)().hash() % Buckets].add(item);
    }
    void remove(Item &item)
    {
        buckets_[(item.*Name)().hash() % Buckets].remove(item);
    }

  private:
    List<Item, Member> buckets_[Buckets];
};

} // namespace irc

#endif
