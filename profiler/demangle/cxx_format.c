/* SPDX-License-Identifier: Apache-2.0 */
/*
 * C++ names, printer: most nodes are text with operands between, and are
 * printed by a format.
 */

#include "demangle/cxx_print.h"

/* a and b: the node's operands. Kinds without a format need a function. */
const char *const prof_cxx_formats[CXX_KINDS] = {
    [CXX_TAGGED] = "%a[abi:%b]",
    [CXX_ENTITY] = "%a@%b",
    [CXX_QUAL] = "%a::%b",
    [CXX_LOCAL] = "%a::%b",
    [CXX_CTOR] = "%a",
    [CXX_DTOR] = "~%a",
    [CXX_BINDING] = "[%[a]",
    [CXX_CLONE] = "%a%{ [clone %| (%}%b%{]%|)%}",
    [CXX_OPERATOR_OF] = "operator %a",
    [CXX_FRIEND] = "friend %a",
    [CXX_LITERAL_OP] = "operator\"\" %a",
    [CXX_VENDOR] = "%a",
    [CXX_COMPLEX] = "%<a%{ _Complex%| complex%}",
    [CXX_IMAGINARY] = "%<a _Imaginary",
    [CXX_VECTOR] = "%<a%{ __vector(%| vector[%}%b%{)%|]%}",
    [CXX_DECLTYPE] = "%{decltype (%|decltype(%}%a)",
    [CXX_POSTFIX] = "%2a%o",
    [CXX_CAST] = "(%a)%0b",
    [CXX_NULLARY] = "%o",
    [CXX_VENDOR_EXPR] = "%a(%[b)",
};

/* An operator; LLVM has (blanks) around one between its operands. */
static void queue_op(struct cxx *x, uint16_t c, bool blanks)
{
    const struct cxx_op *op = &prof_cxx_ops[c & 0xff];

    blanks = blanks && x->llvm && op->loose > 4;
    if (blanks && op->text[0] != ',')
        prof_cxx_text(x, " ");
    prof_cxx_text(x, op->text);
    if (blanks)
        prof_cxx_text(x, " ");
}

/* What follows the next "%(mark)". */
static const char *after(const char *s, char mark)
{
    while (s[0] != '%' || s[1] != mark)
        s++;
    return s + 2;
}

/* An operand that is printed in a certain way, the letter (how). */
static void operand(struct cxx *x, const struct cxx_item *it, char how,
                    uint16_t node)
{
    unsigned loose = prof_cxx_ops[cxx_at(x, it->node)->c & 0xff].loose;

    switch (how) {
    case '[':
        prof_cxx_queue_list(x, it, node);
        break;
    case '<':
        prof_cxx_queue(x, it, CXX_PRE, node);
        break;
    default:
        prof_cxx_queue(x, it, CXX_SUB, node)->aux =
            (uint16_t)(how == 'L'   ? loose
                       : how == 'M' ? loose + 1
                                    : (unsigned)(how - '0'));
    }
}

void prof_cxx_format(struct cxx *x, const struct cxx_item *it,
                     const char *format, uint16_t a, uint16_t b)
{
    for (;;) {
        size_t n = 0;
        char c;

        while (format[n] != '%' && format[n] != 0)
            n++;
        prof_cxx_text_bytes(x, format, n);
        format += n;
        if (*format == 0)
            return;
        c = format[1];
        format += 2;
        if (c == 'a' || c == 'b') {
            prof_cxx_whole(x, it, c == 'a' ? a : b);
        } else if (c == 'o' || c == 'O') {
            queue_op(x, cxx_at(x, it->node)->c, c == 'O');
        } else if (c == '{') {
            if (x->llvm)
                format = after(format, '|');
        } else if (c == '|') {
            format = after(format, '}');
        } else if (c != '}') {
            operand(x, it, c, *format++ == 'a' ? a : b);
        }
    }
}
