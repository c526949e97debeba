/* SPDX-License-Identifier: Apache-2.0 */
/*
 * C++ names, printer: the machine and lists.
 *
 * The output of a short name may be exponentially long, since each substitution
 * may use the one before it twice. The budget of steps limits that; the output
 * so far is then a valid prefix.
 */

#include "demangle/cxx_print.h"

/* A turn takes as long as three nodes that are printed flat. */
#define STEPS_PER_TURN 3u

static struct cxx_item *push(struct cxx *x, uint8_t op, uint32_t node)
{
    if (cxx_is_crowded(x))
        x->failed = true;
    else
        x->item--;
    x->item->all = (x->it.all & 0xffffffff00000000u) | (uint32_t)node << 16 |
                   (uint32_t)(x->it.flags & CXX_IN_LAMBDA) << 8 | op;
    x->item->aux = 0;
    return x->item;
}

/* Prints the beginning of a list, as far as it is flat; returns the rest. */
static uint32_t print_flat_list(struct cxx *x, uint32_t list)
{
    if (cxx_at(x, list)->flags & CXX_FLAT) {
        cxx_print_flat(x, list);
        return 0;
    }
    while (list != 0) {
        const struct cxx_node *n = cxx_at(x, list);

        if (n->a != 0 && !(cxx_at(x, n->a)->flags & CXX_FLAT))
            break;
        if (n->a != 0)
            cxx_print_flat(x, n->a);
        if (n->b != 0)
            demangle_comma(x->out);
        list = n->b;
    }
    return list;
}

/* Whether a list may end with packs that print nothing. */
static bool may_be_empty(struct cxx *x, uint32_t list)
{
    for (; list != 0; list = cxx_at(x, list)->b) {
        uint8_t kind = cxx_at(x, cxx_at(x, list)->a)->kind;

        if (kind == CXX_LIST || kind == CXX_EXPANSION || kind == CXX_TPARAM)
            return true;
    }
    return false;
}

static bool has_post(const struct cxx_node *n)
{
    return n->kind >= CXX_POINTER && n->kind <= CXX_F_THROW &&
           !(n->flags & CXX_FLAT);
}

/* As long as nothing is queued in a turn, what can be printed at once is. */
struct cxx_item *cxx_queue(struct cxx *x, uint8_t op, uint32_t node)
{
    const struct cxx_node *n = cxx_at(x, node);

    if (n->flags & CXX_FLAT) {
        if (op == CXX_POST || op == CXX_POST_IF)
            return &x->spare;
        if (op <= CXX_CORE) {
            op = CXX_PRE;
            if ((void *)x->item == x->mark) {
                cxx_print_flat(x, node);
                return &x->spare;
            }
        }
        return push(x, op, node);
    }
    if ((op == CXX_BOTH && !has_post(n)) ||
        (op == CXX_CORE && n->kind != CXX_LOCAL))
        op = CXX_PRE;
    if ((void *)x->item == x->mark) {
        if (op == CXX_FN_SPACE) {
            demangle_put_char(x->out, ' ');
            return &x->spare;
        }
        if (op == CXX_POST_IF) /* nothing was left open */
            return &x->spare;
    }
    return push(x, op, node);
}

struct cxx_item *cxx_whole(struct cxx *x, uint32_t node)
{
    return cxx_queue(x, CXX_BOTH, node);
}

struct cxx_item *cxx_queue_qualified(struct cxx *x, uint32_t node,
                                     unsigned waiting)
{
    struct cxx_item *item = cxx_is_cv(cxx_at(x, node))
                                ? push(x, CXX_PRE, node)
                                : cxx_queue(x, CXX_PRE, node);

    item->flags |= (uint8_t)waiting;
    return item;
}

void cxx_queue_list(struct cxx *x, uint32_t list)
{
    uint32_t commas = x->out->commas;

    if ((void *)x->item == x->mark) {
        list = print_flat_list(x, list);
        if (list != 0)
            push(x, CXX_LIST_REST, list);
        if (may_be_empty(x, list))
            push(x, CXX_LIST_END, 0)->aux = commas;
        else if (list == 0)
            demangle_commas(x->out, commas);
        return;
    }
    if (list != 0)
        push(x, CXX_LIST_ALL, list);
}

/* Up to eight bytes of text: six in the first word of the item, two in its
 * last. */
static void push_text(struct cxx *x, const char *text, size_t bytes)
{
    struct cxx_item *item = push(x, CXX_TEXT, 0);
    uint32_t parts[3] = {0};

    for (size_t n = 0; n < bytes; n++)
        parts[(n + 2) / 4] |= (uint32_t)(unsigned char)text[n]
                              << ((n + 2) % 4 * 8);
    item->all =
        (uint64_t)parts[1] << 32 | parts[0] | (uint32_t)bytes << 8 | CXX_TEXT;
    item->aux = (uint16_t)parts[2];
}

static void cxx_text_bytes(struct cxx *x, const char *text, size_t bytes)
{
    if ((void *)x->item == x->mark) {
        demangle_put_bytes(x->out, text, bytes);
        return;
    }
    for (; bytes > 8; bytes -= 8, text += 8)
        push_text(x, text, 8);
    if (bytes > 0)
        push_text(x, text, bytes);
}

void cxx_text(struct cxx *x, const char *text)
{
    cxx_text_bytes(x, text, demangle_length(text));
}

/* An operator; LLVM has (blanks) around one between its operands. */
static void queue_op(struct cxx *x, uint32_t c, bool blanks)
{
    const struct cxx_op *op = &cxx_ops[c & 0xff];

    blanks = blanks && x->llvm && op->loose > 4;
    if (blanks && op->text[0] != ',')
        cxx_text(x, " ");
    cxx_text(x, op->text);
    if (blanks)
        cxx_text(x, " ");
}

/* (number), as (how) says: itself, one more, or one less but nothing for 0. */
static void queue_number(struct cxx *x, uint32_t number, char how)
{
    char digits[DEMANGLE_DIGITS];
    size_t at;

    if (how == '-' && number-- == 0)
        return;
    at = demangle_decimal(digits, number + (how == '+'));
    cxx_text_bytes(x, digits + at, DEMANGLE_DIGITS - at);
}

/* What follows the next "%|" or "%}" of this level. */
static const char *skip(const char *s)
{
    for (unsigned level = 0;; s++) {
        if (*s != '%')
            continue;
        s++;
        if (*s == '{' || *s == '(')
            level++;
        else if ((*s == '|' && level == 0) || (*s == '}' && level-- == 0))
            return s + 1;
    }
}

/* An operand that is printed in a certain way, the letter (how). */
static void operand(struct cxx *x, char how, uint32_t node)
{
    const struct cxx_node *n = cxx_at(x, node);
    unsigned limit = (unsigned)(how - '0');

    switch (how) {
    case '[':
        cxx_queue_list(x, node);
        return;
    case '*':
        for (; node != 0; node = cxx_at(x, node)->b)
            cxx_whole(x, cxx_at(x, node)->a);
        return;
    case '<':
        cxx_queue(x, CXX_PRE, node);
        return;
    case '$':
        queue_number(x, cxx_elements(x, node), 0);
        return;
    case '=':
        cxx_format(x, n->kind == CXX_DESIGNATED ? "%a" : "%{=%| = %}%Ca", node,
                   0);
        return;
    case 'N':
        if (!x->llvm && n->kind == CXX_TYPED)
            node = n->a;
        break;
    case '&':
        if (!x->llvm && n->kind == CXX_TYPED &&
            cxx_at(x, n->a)->kind == CXX_QUAL)
            node = n->a; /* fall through */
    case 'L':
    case 'M':
        limit = cxx_ops[cxx_at(x, x->it.node)->c & 0xff].loose + (how == 'M');
        break;
    default:
        break;
    }
    cxx_queue(x, CXX_SUB, node)->aux = (uint16_t)limit;
}

/* The node that (letter) names. */
static uint32_t node_of(const struct cxx *x, char letter, uint32_t a,
                        uint32_t b)
{
    const struct cxx_node *pair = cxx_at(x, b);

    return letter == 'a'   ? a
           : letter == 'b' ? b
           : letter == 'c' ? pair->a
                           : pair->b;
}

void cxx_format(struct cxx *x, const char *format, uint32_t a, uint32_t b)
{
    for (;;) {
        uint32_t number;
        size_t n = 0;
        char c;

        while (format[n] != '%' && format[n] != 0)
            n++;
        cxx_text_bytes(x, format, n);
        format += n;
        if (*format == 0)
            return;
        c = format[1];
        format += 2;
        if (c >= 'a' && c <= 'd') {
            cxx_whole(x, node_of(x, c, a, b));
            continue;
        }
        number = cxx_at(x, x->it.node)->c;
        switch (c) {
        case 'o':
        case 'O':
            queue_op(x, number, c == 'O');
            break;
        case '#':
        case '+':
        case '-':
            queue_number(x, number, c);
            break;
        case '{':
            if (x->llvm)
                format = skip(format);
            break;
        case '(':
            c = *format++;
            if (c == '=' ? *format++ != (char)number : node_of(x, c, a, b) == 0)
                format = skip(format);
            break;
        case '|':
            format = skip(format);
            break;
        case '}':
            break;
        default:
            operand(x, c, node_of(x, *format++, a, b));
        }
    }
}

static void print_fn_qual(struct cxx *x, const struct cxx_node *n)
{
    static const char text[][18] = {
        " const", " volatile",         " restrict", " &",
        " &&",    " transaction_safe", " noexcept", " throw",
    };

    demangle_put_string(x->out, text[n->kind - CXX_F_CONST]);
    if (n->b != 0)
        cxx_format(x, "(%a)", n->b, 0);
}

/* A chain of qualifiers from the innermost to the outermost one. */
static void print_quals(struct cxx *x)
{
    const struct cxx_node *n = cxx_at(x, x->it.node);

    if (!cxx_is_fn_qual(n))
        return;
    if (cxx_is_fn_qual(cxx_at(x, n->a))) {
        cxx_queue(x, CXX_QUALS, n->a);
        cxx_queue(x, CXX_PIECE, x->it.node);
    } else {
        print_fn_qual(x, n);
    }
}

static void print_piece(struct cxx *x)
{
    const struct cxx_node *n = cxx_at(x, x->it.node);

    if (cxx_is_fn_qual(n))
        print_fn_qual(x, n);
    else
        cxx_print_invented(x, x->it.node, (uint16_t)(x->it.aux - 1));
}

static void expand(struct cxx *x)
{
    struct cxx_item *next;

    if (x->it.pack == x->it.aux)
        return;
    if (x->it.pack > 0)
        demangle_put_string(x->out, ", ");
    cxx_whole(x, x->it.node);
    next = cxx_queue(x, CXX_EXPAND, x->it.node);
    next->pack++;
    next->aux = x->it.aux;
}

static void fn_space(struct cxx *x)
{
    if (x->open == x->it.aux)
        demangle_put_char(x->out, ' ');
}

/* aux = 1: a pointer to member, which always has its blank. */
static void paren(struct cxx *x)
{
    char last = x->out->last;

    if (last != ' ' && (x->it.aux || (last != '(' && last != '*')))
        demangle_put_char(x->out, ' ');
    demangle_put_char(x->out, '(');
}

static void member_of(struct cxx *x)
{
    if (x->out->last != '(')
        demangle_put_char(x->out, ' ');
    cxx_whole(x, x->it.node);
    cxx_text(x, "::*");
}

/* Whether (*it) prints a modifier: &, *, const, class::* or, for a returned
 * type, the function itself. */
static bool is_modifier(const struct cxx_item *it, bool *function)
{
    char c = (char)it->node;

    if (it->op == CXX_FN_SPACE)
        *function = true;
    if (*function)
        return it->op == CXX_FN_SPACE || it->op == CXX_CORE ||
               it->op == CXX_PRE || it->op == CXX_TEXT ||
               it->op == CXX_LIST_ALL || it->op == CXX_QUALS;
    return it->op == CXX_MEMBER_OF || (it->op == CXX_TEXT && it->flags > 0 &&
                                       (c == '&' || c == '*' || c == ' '));
}

/*
 * Imitates a quirk of GNU: it prints all pending modifiers where the first
 * array or function type needs its parenthesis. In the parameters of a lambda
 * that includes modifiers of the lambda's own type. So items below the lambda's
 * end on the stack are moved to the top.
 */
static void leak(struct cxx *x)
{
    struct cxx_item *at = x->item;
    struct cxx_item *floor = x->floor;
    bool function = false;

    while (at != floor && (at->op != CXX_SCOPE || at->flags != CXX_FOR_LAMBDA))
        at++;
    if (at == floor || !demangle_pay(x->out, (uint32_t)(at - x->item) / 8u))
        return;
    for (at++; at != floor; at++) {
        if (at->op == CXX_SCOPE && at->flags != 0)
            continue;
        if (!is_modifier(at, &function))
            return;
        if (cxx_is_crowded(x)) {
            x->failed = true;
            return;
        }
        *--x->item = *at;
        if (at->op != CXX_TEXT)
            x->item->flags |= CXX_IN_LAMBDA;
        at->op = CXX_TEXT;
        at->flags = 0;
    }
}

/* Begins template arguments. */
static void print_open(struct cxx *x)
{
    if (x->out->last == '<' && !x->llvm)
        demangle_put_char(x->out, ' ');
    demangle_put_char(x->out, '<');
}

static void cxx_print_rare(struct cxx *x)
{
    switch (x->it.op) {
    case CXX_SUB:
        cxx_print_sub(x);
        break;
    case CXX_EXPAND:
        expand(x);
        break;
    case CXX_FN_SPACE:
        fn_space(x);
        break;
    case CXX_PAREN:
        paren(x);
        break;
    case CXX_MEMBER_OF:
        member_of(x);
        break;
    case CXX_QUALS:
        print_quals(x);
        break;
    case CXX_PIECE:
        print_piece(x);
        break;
    case CXX_CORE:
        cxx_print_core(x);
        break;
    case CXX_LEAK:
        leak(x);
        break;
    case CXX_OPEN:
        print_open(x);
        break;
    default: /* CXX_SCOPE: nothing is printed */
        break;
    }
}

/* Turns around what lies between the top and (mark). */
static void reverse_items(struct cxx *x, struct cxx_item *mark)
{
    struct cxx_item *low = x->item;
    struct cxx_item *high = mark - 1;

    while (low < high) {
        struct cxx_item swap = *low;

        *low++ = *high;
        *high-- = swap;
    }
}

static void queue_both(struct cxx *x, uint32_t node)
{
    uint32_t open = x->open;

    cxx_queue(x, CXX_PRE, node);
    if (has_post(cxx_at(x, node)))
        cxx_queue(x, CXX_POST_IF, node)->aux = open;
}

static void list_rest(struct cxx *x)
{
    uint32_t list = x->it.node;
    const struct cxx_node *n;

    if (x->it.aux)
        demangle_comma(x->out);
    list = print_flat_list(x, list);
    if (list == 0)
        return;
    n = cxx_at(x, list);
    queue_both(x, n->a);
    if (n->b != 0)
        push(x, CXX_LIST_REST, n->b)->aux = 1;
}

/*
 * What nodes print; a and b are their operands. Kinds without a format need a
 * function.
 */
static const char *const formats[CXX_KINDS] = {
    [CXX_TAGGED] = "%a[abi:%b]",
    [CXX_MODULE] = "%(=:%a:%}%(=.%a.%}%b",
    [CXX_ENTITY] = "%a@%b",
    [CXX_QUAL] = "%a::%b",
    [CXX_LOCAL] = "%a::%b",
    [CXX_DEFAULT_ARG] = "{default arg#%#}::%a",
    [CXX_CTOR] = "%a",
    [CXX_DTOR] = "~%a",
    [CXX_BINDING] = "[%[a]",
    [CXX_UNNAMED] = "%{{unnamed type#%+}%|'unnamed%-'%}",
    [CXX_CLONE] = "%a%{ [clone %| (%}%b%{]%|)%}",
    [CXX_OPERATOR_OF] = "operator %a",
    [CXX_FRIEND] = "friend %a",
    [CXX_LITERAL_OP] = "operator\"\" %a",
    [CXX_VENDOR] = "%a",
    [CXX_COMPLEX] = "%<a%{ _Complex%| complex%}",
    [CXX_IMAGINARY] = "%<a _Imaginary",
    [CXX_VECTOR] = "%<a%{ __vector(%| vector[%}%b%{)%|]%}",
    [CXX_BITINT] = "%(=Uunsigned %}_BitInt(%a)",
    [CXX_FLOATN] = "%(=bstd::bfloat%a_t%|_Float%a%}%(=xx%}",
    [CXX_ELABORATED] = "%(=sstruct%}%(=uunion%}%(=eenum%}%(=tthis%} %a",
    [CXX_DECLTYPE] = "%{decltype (%|decltype(%}%a)",
    [CXX_FPARAM] = "%{{parm#%+}%|fp%-%}",
    [CXX_POSTFIX] = "%2a%o",
    [CXX_CAST] = "(%a)%0b",
    [CXX_BRACES] = "%(a%a%}{%[b}",
    [CXX_NULLARY] = "%o",
    [CXX_VENDOR_EXPR] = "%a(%[b)",
    [CXX_REQUIRES] = "requires %(a(%[a) %}{%*b }",
};

static void pre(struct cxx *x)
{
    const struct cxx_node *n = cxx_at(x, x->it.node);
    uint8_t kind = n->kind;

    if (x->it.node == 0) {
        x->failed = true;
    } else if ((n->flags & CXX_FLAT) &&
               !((x->it.flags & CXX_WAITING) && cxx_is_cv(n))) {
        cxx_print_flat(x, x->it.node);
    } else if (formats[kind] != NULL) {
        cxx_format(x, formats[kind], n->a, n->b);
    } else if (kind == CXX_LIST) {
        cxx_queue_list(x, x->it.node);
    } else if (kind >= CXX_POINTER && kind <= CXX_EXPANSION) {
        cxx_print_type(x);
    } else {
        cxx_print_name(x);
    }
}

static void close(struct cxx *x)
{
    if (x->out->last == '>' && !x->llvm)
        demangle_put_char(x->out, ' ');
    demangle_put_char(x->out, '>');
}

void cxx_queue_arguments(struct cxx *x, uint32_t list)
{
    if ((void *)x->item == x->mark)
        print_open(x);
    else
        push(x, CXX_OPEN, 0);
    cxx_queue_list(x, list);
    if ((void *)x->item == x->mark)
        close(x);
    else
        push(x, CXX_CLOSE, 0);
}

static void print_text(struct cxx *x)
{
    uint64_t text = x->it.all >> 16 | (uint64_t)x->it.aux << 48;

    for (unsigned n = x->it.flags; n > 0; n--, text >>= 8)
        demangle_put_char(x->out, (char)text);
}

static void run_item(struct cxx *x)
{
    switch (x->it.op) {
    case CXX_PRE:
        pre(x);
        break;
    case CXX_BOTH:
        queue_both(x, x->it.node);
        break;
    case CXX_POST_IF:
        if (x->open <= x->it.aux)
            break; /* fall through */
    case CXX_POST:
        cxx_print_post(x);
        break;
    case CXX_TEXT:
        print_text(x);
        break;
    case CXX_LIST_ALL:
        cxx_queue_list(x, x->it.node);
        break;
    case CXX_LIST_REST:
        list_rest(x);
        break;
    case CXX_LIST_END:
        demangle_commas(x->out, x->it.aux);
        break;
    case CXX_CLOSE:
        close(x);
        break;
    default:
        cxx_print_rare(x);
    }
}

bool cxx_print(struct cxx *x, uint32_t root)
{
    x->mark = x->item;
    queue_both(x, root);
    for (;;) {
        if (x->failed && x->out->steps > 0)
            return false;
        reverse_items(x, x->mark);
        if ((void *)x->item == x->floor ||
            !demangle_pay(x->out, STEPS_PER_TURN))
            return true;
        x->it = *x->item++;
        x->mark = x->item;
        run_item(x);
    }
}
