/* SPDX-License-Identifier: Apache-2.0 */
#ifndef IRC_LIST_H
#define IRC_LIST_H

namespace irc
{

/* A link of an item in one list; an item has one for each list. */
template <class Item> struct Hook {
    Item *next = nullptr;
    Item **back = nullptr; /* pointer to the item; nullptr = in no list */

    bool linked() const
    {
        return back != nullptr;
    }
};

/*
 * An intrusive list of items linked through their Hook Member: it does not
 * allocate, and items are removed in constant time. Items MUST NOT be removed
 * during an iteration. The list does not own them.
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
 * A hash table of items by a name, case-insensitive. An item MUST keep its name
 * while it is in the table.
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
