/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_CXX_PRINT_H
#define PROF_CXX_PRINT_H

/*
 * The printer's machine. Pending output is a stack of items. In each step a
 * handler takes the top item, prints what it can at once, and queues the rest
 * in reading order. The machine then reverses what was queued, so that the
 * first of it is on top.
 *
 * C++ declarators are inside out: `int (*x)[5]`. So each type is printed in two
 * halves, CXX_PRE before the declarator and CXX_POST after it.
 *
 * An item includes its environment: the template whose arguments its parameters
 * refer to (scope), and the index of the current pack element. So nothing must
 * be saved and restored. A scope is itself an item (CXX_SCOPE), below all items
 * printed in it; its number is its distance from the bottom of the stack.
 */

#include "demangle/cxx.h"

enum cxx_op_code {
    CXX_PRE,     /* the node's first half: for most nodes all of it */
    CXX_BOTH,    /* both halves */
    CXX_CORE,    /* a name without its CXX_F_... */
    CXX_POST,    /* the second half */
    CXX_POST_IF, /* the same if the first half left something open (aux) */
    CXX_SUB,     /* as an operand: in parentheses unless simple */
    CXX_TEXT,    /* up to eight bytes instead of the fields */
    CXX_LIST_ALL,
    CXX_LIST_REST, /* aux = 1: after a comma */
    CXX_LIST_END,  /* aux = commas promised before the list */
    CXX_EXPAND,    /* pack = element, aux = their number */
    CXX_SCOPE,     /* node = arguments; nothing is printed; see below */
    CXX_FN_SPACE,  /* a blank unless the type before is open (aux) */
    CXX_PAREN,     /* opens the parenthesis of a function pointer */
    CXX_MEMBER_OF, /* " class::*" */
    CXX_QUALS,     /* a chain of CXX_F_..., innermost first */
    CXX_PIECE,     /* what a node prints between its operands */
    CXX_LEAK,      /* modifiers of the lambda around, see leak() */
    CXX_OPEN,      /* '<' of template arguments */
    CXX_CLOSE,     /* their '>' */
};

/* Flags of items: the first one is passed on to everything within. The upper
 * six bits are up to three qualifiers that wait for an array's element, the
 * innermost first: 1 const, 2 volatile, 3 restrict. */
#define CXX_IN_LAMBDA 1u /* template parameters are "auto" */
#define CXX_IN_ARRAY 2u  /* second half of an array's element */
#define CXX_WAITING 0xfcu
#define CXX_WAITING_SHIFT 2

/* Flags of a CXX_SCOPE: what it was made for. */
#define CXX_FOR_PARAM 1u  /* node = a parameter whose argument is printed */
#define CXX_FOR_REF 2u    /* node = a reference to a parameter */
#define CXX_FOR_LAMBDA 4u /* node = the lambda */

/* The whole pack instead of one element. */
#define CXX_PACK_ALL 0xffffu

/* Queues (op, node) in the environment of x->it. Never returns NULL. */
PROF_HIDDEN struct cxx_item *cxx_queue(struct cxx *x, uint8_t op,
                                       uint32_t node);
/* The same for CXX_BOTH. */
PROF_HIDDEN struct cxx_item *cxx_whole(struct cxx *x, uint32_t node);
/* The same for CXX_PRE of what has qualifiers around it (CXX_WAITING). */
PROF_HIDDEN struct cxx_item *cxx_queue_qualified(struct cxx *x, uint32_t node,
                                                 unsigned waiting);
/* The same for a list; _arguments: in the brackets of a template. */
PROF_HIDDEN void cxx_queue_list(struct cxx *x, uint32_t list);
PROF_HIDDEN void cxx_queue_arguments(struct cxx *x, uint32_t list);
PROF_HIDDEN void cxx_text(struct cxx *x, const char *text);
/*
 * The same for text and operands. (a) and (b) are two nodes, mostly those of
 * the item's node, c and d are those of (b). N is one of these letters:
 *
 *     %N         both halves of the node
 *     %<N        its first half
 *     %[N        a list of nodes; %*N: without commas
 *     %0N to %CN an operand: LLVM puts it in parentheses if it binds as loosely
 *                as this number, '0' being 0, or more
 *     %LN %MN    the same with the looseness of the item's operator, or 1 more
 *     %&N %NN    for GNU only the name of a function: if it is qualified, or
 *                always. For LLVM the same as %LN, or never in parentheses
 *     %=N        the value of a designator
 *     %$N        the number of elements of a list or pack
 *     %o         the item's operator; %O: with LLVM's blanks
 *     %#         the number c of the item's node; %+: c + 1; %-: c - 1, or
 *                nothing if c is 0
 *     %{x%|y%}   x in GNU's dialect and y in LLVM's
 *     %(Nx%|y%}  x if the node is not 0, or else y, which may be left out
 *     %(=Cx%|y%} x if c is the character C
 */
PROF_HIDDEN void cxx_format(struct cxx *x, const char *format, uint32_t a,
                            uint32_t b);
/*
 * Opens a scope for what was queued in this turn; queue only scopes after it.
 * The number of the one that is queued last is known before anything is
 * queued in the turn, cxx_scope_next(); the one before it has one more,
 * and so on. (outer) is where to look on.
 *
 * Besides templates, parameters and references that are being printed make
 * scopes (flags); these have no arguments, but say what is within what:
 * fields scope = outer, pack = the scope that it was opened in, aux = the copy
 * that cxx_resolve_reference() made of it.
 */
PROF_HIDDEN void cxx_scope(struct cxx *x, uint8_t flags, uint32_t node,
                           uint32_t outer);
PROF_HIDDEN uint32_t cxx_scope_next(const struct cxx *x);

/* The pack that (node) would expand, 0 if none. */
PROF_HIDDEN uint32_t cxx_find_pack(struct cxx *x, uint32_t node);
/* Elements of a list. */
PROF_HIDDEN uint32_t cxx_length(const struct cxx *x, uint32_t list);
/* The same for sizeof...: of a pack, or of arguments with packs expanded. */
PROF_HIDDEN uint32_t cxx_elements(struct cxx *x, uint32_t node);

static inline struct cxx_item *cxx_scope_at(const struct cxx *x, uint32_t scope)
{
    return (struct cxx_item *)x->floor - scope;
}

/* All of a CXX_FLAT node, at once. */
PROF_HIDDEN void cxx_print_flat(struct cxx *x, uint32_t node);

/* CXX_PRE by the kind of node: types, and all others. */
PROF_HIDDEN void cxx_print_name(struct cxx *x);
PROF_HIDDEN void cxx_print_type(struct cxx *x);
PROF_HIDDEN void cxx_print_post(struct cxx *x);
PROF_HIDDEN void cxx_print_sub(struct cxx *x);
/* CXX_CORE. */
PROF_HIDDEN void cxx_print_core(struct cxx *x);

/* The name of a lambda's template parameter. */
PROF_HIDDEN void cxx_print_invented(struct cxx *x, uint32_t declaration,
                                    uint32_t index);

static inline bool cxx_is_cv(const struct cxx_node *n)
{
    return n->kind >= CXX_CONST && n->kind <= CXX_RESTRICT;
}

static inline bool cxx_is_fn_qual(const struct cxx_node *n)
{
    return n->kind >= CXX_F_CONST && n->kind <= CXX_F_THROW;
}

/* Whether nodes and items, which grow towards each other, are about to meet. */
static inline bool cxx_is_crowded(const struct cxx *x)
{
    return (const char *)(cxx_at(x, x->node_count)) >
           (const char *)(x->item - 3);
}

#endif
