/* SPDX-License-Identifier: Apache-2.0 */
/*
 * C++ names, reading: encodings and names (ABI 5.1.2 to 5.1.4).
 *
 * What becomes a substitution is decided here for names: every prefix of a
 * nested name but the whole of it (which is one only where it is a type, and
 * then the rule for types adds it), and a template's name before its
 * arguments.
 *
 * GNU counts unnamed types, and a decltype that a name begins with, once more
 * than the ABI does. A name is read GNU's way first, and only where that fails
 * the ABI's (x->strict).
 */

#include "cxx_parse.h"

/* The name that a constructor within (node) bears: its last component. */
static uint16_t base_name(const struct cxx *x, uint16_t node)
{
    for (;;) {
        const struct cxx_node *n = cxx_at(x, node);

        switch (n->kind) {
        case CXX_QUAL: {
            uint8_t last = cxx_at(x, n->b)->kind;

            node = last == CXX_UNNAMED || last == CXX_LAMBDA ? n->a : n->b;
            break;
        }
        case CXX_LOCAL:
            node = n->b;
            break;
        case CXX_TAGGED:
        case CXX_TEMPLATE:
        case CXX_ENTITY:
        case CXX_DEFAULT_ARG:
            node = n->a;
            break;
        default:
            return node;
        }
    }
}

/* Whether functions of this name have their returned type in the encoding:
 * templates do, unless they are constructors, destructors or conversions. */
static bool has_return(const struct cxx *x, uint16_t node)
{
    const struct cxx_node *n = cxx_at(x, node);

    while (n->kind == CXX_LOCAL || n->kind == CXX_DEFAULT_ARG ||
           (n->kind >= CXX_F_CONST && n->kind <= CXX_F_THROW))
        n = cxx_at(x, n->kind == CXX_LOCAL ? n->b : n->a);
    if (n->kind != CXX_TEMPLATE)
        return false;
    n = cxx_at(x, base_name(x, n->a));
    return n->kind != CXX_CTOR && n->kind != CXX_DTOR &&
           n->kind != CXX_CONVERSION;
}

static bool at_encoding_end(const struct cxx *x)
{
    char c = *x->s;

    return c == 0 || c == 'E' || c == '.' || (x->block && c == '_');
}

void prof_cxx_encoding(struct cxx *x, struct cxx_frame *f)
{
    switch (f->at) {
    case 0:
        if (*x->s == 'G' || *x->s == 'T') {
            prof_cxx_become(x, CXX_R_SPECIAL, 0);
            return;
        }
        prof_cxx_call(x, 1, *x->s == 'N' ? CXX_R_NESTED : CXX_R_NAME, 0);
        return;
    case 1:
        f->b = x->ret;
        if (at_encoding_end(x)) {
            if (*x->s == '.')
                x->llvm = true;
            prof_cxx_give(x, f->b);
            return;
        }
        if (x->s[0] == 'v' && x->s[1] == 0 && !has_return(x, f->b)) {
            x->s++;
            f->c = prof_cxx_node(x, CXX_FUNCTION, 0, 0, 0);
            prof_cxx_give(x, prof_cxx_node(x, CXX_TYPED, f->b, f->c, 0));
            return;
        }
        prof_cxx_call(x, 2, CXX_R_BARE, has_return(x, f->b));
        return;
    case 2:
        f->c = x->ret;
        if (*x->s == 'Q') {
            x->s++;
            x->llvm = true;
            prof_cxx_call(x, 3, CXX_R_EXPR, 0);
            return;
        }
        prof_cxx_give(x, prof_cxx_node(x, CXX_TYPED, f->b, f->c, 0));
        return;
    default:
        prof_cxx_give(x, prof_cxx_node(x, CXX_TYPED, f->b, f->c, x->ret));
    }
}

/* h <number> _, or v <number> _ <number> _; what they say is not printed. The
 * letter is taken already. */
static void call_offset(struct cxx *x)
{
    char letter = x->s[-1];
    int numbers = letter == 'v' ? 2 : 1;

    if (letter != 'h' && letter != 'v')
        cxx_fail(x);
    while (!x->failed && numbers-- > 0) {
        cxx_take(x, 'n');
        if (!cxx_is_digit(*x->s))
            cxx_fail(x);
        while (cxx_is_digit(*x->s))
            x->s++;
        cxx_want(x, '_');
    }
}

/* The same from its letter on. */
static void whole_call_offset(struct cxx *x)
{
    if (*x->s != 0)
        x->s++;
    call_offset(x);
}

static uint16_t find_special(struct cxx *x)
{
    for (uint16_t i = 0; prof_cxx_specials[i].code[0] != 0; i++)
        if (cxx_next(x, prof_cxx_specials[i].code[0],
                     prof_cxx_specials[i].code[1])) {
            x->s += 2;
            return i;
        }
    cxx_fail(x);
    return 0;
}

/* "Gr": a resource's name with its own escapes, kept as they are. */
static uint16_t resource(struct cxx *x)
{
    uint32_t bytes = prof_cxx_number(x);
    uint16_t name;

    if (x->failed || bytes < 2 || bytes > (uint32_t)(x->end - x->s)) {
        cxx_fail(x);
        return 0;
    }
    cxx_want(x, '_');
    name = prof_cxx_node(x, CXX_NAME, (uint16_t)(x->s - x->text),
                         (uint16_t)(bytes - 1), 1);
    x->s += bytes - 1;
    return name;
}

/* First turn of a special name: which one, and what to read for it. */
static void special_begin(struct cxx *x, struct cxx_frame *f)
{
    static const uint8_t then[] = {
        [CXX_THEN_TYPE] = CXX_R_TYPE,
        [CXX_THEN_NAME] = CXX_R_NAME,
        [CXX_THEN_ENCODING] = CXX_R_ENCODING,
        [CXX_THEN_CLONE] = CXX_R_ENCODING,
        [CXX_THEN_OFFSET] = CXX_R_ENCODING,
        [CXX_THEN_OFFSETS] = CXX_R_ENCODING,
        [CXX_THEN_TYPES] = CXX_R_TYPE,
        [CXX_THEN_ARG] = CXX_R_ARG,
        [CXX_THEN_TEMPORARY] = CXX_R_NAME,
    };
    uint16_t module = 0;

    f->c = find_special(x);
    if (x->failed)
        return;
    switch (prof_cxx_specials[f->c].shape) {
    case CXX_THEN_RESOURCE:
        prof_cxx_give(x, prof_cxx_node(x, CXX_SPECIAL, resource(x), 0, f->c));
        return;
    case CXX_THEN_MODULE:
        prof_cxx_module(x, &module);
        prof_cxx_give(x, module == 0 ? 0 : prof_cxx_node(x, CXX_SPECIAL,
                                                         module, 0, f->c));
        return;
    case CXX_THEN_CLONE:
        if (cxx_take(x, 'n'))
            f->c++;
        else
            cxx_want(x, 't');
        break;
    case CXX_THEN_OFFSET:
        call_offset(x);
        break;
    case CXX_THEN_OFFSETS:
        whole_call_offset(x);
        whole_call_offset(x);
        break;
    default:
        break;
    }
    prof_cxx_call(x, 1, then[prof_cxx_specials[f->c].shape],
                  prof_cxx_specials[f->c].shape == CXX_THEN_ENCODING);
}

/* The number of a temporary: plain for GNU; what compilers emit has a '_'
 * behind it, and then only LLVM knows what it is. */
static void temporary(struct cxx *x, struct cxx_frame *f)
{
    const char *from = x->s;
    uint16_t number;

    while (cxx_is_digit(*x->s) || cxx_is_upper(*x->s))
        x->s++;
    if (cxx_take(x, '_')) {
        x->llvm = true;
        prof_cxx_give(x, prof_cxx_node(x, CXX_SPECIAL, x->ret, 0,
                                       CXX_S_TEMPORARY));
        return;
    }
    x->s = from;
    if (cxx_is_digit(*from))
        number = prof_cxx_digits(x);
    else
        number = prof_cxx_word(x, CXX_WORD, CXX_W_ZERO, 0);
    prof_cxx_give(x, prof_cxx_node(x, CXX_SPECIAL, number, x->ret, f->c));
}

void prof_cxx_special(struct cxx *x, struct cxx_frame *f)
{
    if (f->at == 0) {
        special_begin(x, f);
    } else if (f->at == 2) {
        /* The base stands last in the name and first in the text. */
        prof_cxx_give(x, prof_cxx_node(x, CXX_SPECIAL, x->ret, f->a, f->c));
    } else if (prof_cxx_specials[f->c].shape == CXX_THEN_TYPES) {
        f->a = x->ret;
        prof_cxx_number(x);
        cxx_want(x, '_');
        prof_cxx_call(x, 2, CXX_R_TYPE, 0);
    } else if (prof_cxx_specials[f->c].shape == CXX_THEN_TEMPORARY) {
        temporary(x, f);
    } else {
        prof_cxx_give(x, prof_cxx_node(x, CXX_SPECIAL, x->ret, 0, f->c));
    }
}

/* Where a list of parameter types ends: nothing is taken. */
static bool at_parameters_end(const struct cxx *x)
{
    char c = *x->s;

    if (c == 0 || c == 'E' || c == '.' || c == 'Q' || (x->block && c == '_'))
        return true;
    return (c == 'R' || c == 'O') && x->s[1] == 'E';
}

/* (void) is no parameter. */
static uint16_t parameters(const struct cxx *x, uint16_t head, uint16_t tail)
{
    const struct cxx_node *only;

    if (head == 0 || head != tail)
        return head;
    only = cxx_at(x, cxx_at(x, head)->a);
    if (only->kind == CXX_BUILTIN && only->a == 'v' - 'a')
        return 0;
    return head;
}

void prof_cxx_bare(struct cxx *x, struct cxx_frame *f)
{
    if (f->at == 0) {
        if (cxx_take(x, 'J'))
            f->a = 1;
        if (f->a) {
            prof_cxx_call(x, 1, CXX_R_TYPE, 0);
            return;
        }
    } else if (f->at == 1) {
        f->a = x->ret;
    } else {
        prof_cxx_append(x, &f->b, &f->c, x->ret);
    }
    /* There is at least one parameter; most need no rule of their own. */
    while (f->b == 0 || !at_parameters_end(x)) {
        if (!prof_cxx_short_type(x)) {
            prof_cxx_call(x, 2, CXX_R_TYPE, 0);
            return;
        }
        if (x->failed)
            return;
        prof_cxx_append(x, &f->b, &f->c, x->ret);
    }
    prof_cxx_give(x, prof_cxx_node(x, CXX_FUNCTION, f->a,
                                   parameters(x, f->b, f->c), 0));
}

/* First turn of a name. f->a becomes 1 where a template's name must not be
 * made a substitution, because it is one. */
static void name_begin(struct cxx *x, struct cxx_frame *f)
{
    uint16_t scope = 0;

    switch (*x->s) {
    case 'N':
        prof_cxx_become(x, CXX_R_NESTED, 0);
        return;
    case 'Z':
        prof_cxx_become(x, CXX_R_LOCAL, 0);
        return;
    case 'S':
        if (x->s[1] == 't') {
            x->s += 2;
            scope = prof_cxx_word(x, CXX_WORD, CXX_W_STD, 0);
            break;
        }
        f->b = prof_cxx_substitution(x, false);
        if (x->failed)
            return;
        if (cxx_at(x, f->b)->kind == CXX_MODULE)
            break;
        f->a = 1;
        x->ret = f->b;
        f->at = 1;
        prof_cxx_name(x, f);
        return;
    default:
        break;
    }
    prof_cxx_call(x, 1, CXX_R_UNQUALIFIED, scope);
    x->frame->b = f->b;
}

void prof_cxx_name(struct cxx *x, struct cxx_frame *f)
{
    switch (f->at) {
    case 0:
        name_begin(x, f);
        return;
    case 1:
        if (*x->s != 'I') {
            prof_cxx_give(x, x->ret);
            return;
        }
        if (!f->a)
            prof_cxx_remember(x, x->ret);
        f->b = x->ret;
        prof_cxx_call(x, 2, CXX_R_ARGS, 0);
        return;
    default:
        prof_cxx_give(x, prof_cxx_node(x, CXX_TEMPLATE, f->b, x->ret, 0));
    }
}

/* CV- and ref-qualifiers of a member function: a chain whose outermost link
 * is (*head) and whose innermost (*tail) waits for the name. */
static void member_qualifiers(struct cxx *x, uint16_t *head, uint16_t *tail)
{
    for (;;) {
        uint8_t kind;
        uint16_t node;

        switch (*x->s) {
        case 'r': kind = CXX_F_RESTRICT; break;
        case 'V': kind = CXX_F_VOLATILE; break;
        case 'K': kind = CXX_F_CONST; break;
        case 'R': kind = CXX_F_LREF; break;
        case 'O': kind = CXX_F_RREF; break;
        default: return;
        }
        x->s++;
        node = prof_cxx_node(x, kind, 0, 0, 0);
        if (kind == CXX_F_LREF || kind == CXX_F_RREF) {
            cxx_at(x, node)->a = *head;
            *head = node;
            if (*tail == 0)
                *tail = node;
            return;
        }
        if (*tail == 0)
            *head = node;
        else
            cxx_at(x, *tail)->a = node;
        *tail = node;
    }
}

/* A component that is a word, perhaps with tags. */
static void nested_word(struct cxx *x, struct cxx_frame *f)
{
    uint16_t name = prof_cxx_source_name(x);

    if (x->failed)
        return;
    while (cxx_take(x, 'B') && !x->failed)
        name = prof_cxx_node(x, CXX_TAGGED, name, prof_cxx_source_name(x), 0);
    if (f->a != 0)
        name = prof_cxx_qual(x, f->a, name);
    f->a = name;
    if (*x->s != 'E')
        prof_cxx_remember(x, name);
}

/* Reads one component of a prefix, or ends the name. f->a is what there is so
 * far, f->b and f->c the qualifiers. */
static void nested_next(struct cxx *x, struct cxx_frame *f)
{
    char c = *x->s;

    if (cxx_is_digit(c)) {
        nested_word(x, f);
    } else if (c == 'E') {
        x->s++;
        if (f->a != 0 && f->c != 0) {
            cxx_at(x, f->c)->a = f->a;
            f->a = f->b;
        }
        prof_cxx_give(x, f->a);
    } else if (c == 'I' && f->a != 0) {
        prof_cxx_call(x, 2, CXX_R_ARGS, 0);
    } else if (c == 'T' && f->a == 0) {
        f->a = prof_cxx_tparam_leaf(x);
        f->at = 4;
    } else if (c == 'D' && (x->s[1] == 't' || x->s[1] == 'T')) {
        if (f->a != 0)
            cxx_fail(x);
        prof_cxx_call(x, 5, CXX_R_TYPE, 0);
    } else if (c == 'S' && x->s[1] == 't' && f->a == 0) {
        x->s += 2;
        f->a = prof_cxx_word(x, CXX_WORD, CXX_W_STD, 0);
    } else if (c == 'S' && x->s[1] != 't') {
        uint16_t sub = prof_cxx_substitution(x, true);

        if (!x->failed && cxx_at(x, sub)->kind == CXX_MODULE) {
            prof_cxx_call(x, 3, CXX_R_UNQUALIFIED, f->a);
            x->frame->b = sub;
        } else if (f->a != 0) {
            cxx_fail(x);
        } else {
            f->a = sub;
        }
    } else if (c == 'M' && f->a != 0) {
        x->s++;
    } else if (c == 0 || c == 'I' || c == 'T' || c == 'S') {
        cxx_fail(x);
    } else {
        prof_cxx_call(x, 3, CXX_R_UNQUALIFIED, f->a);
    }
}

void prof_cxx_nested(struct cxx *x, struct cxx_frame *f)
{
    switch (f->at) {
    case 0:
        x->s++;
        if (cxx_take(x, 'H'))
            x->llvm = true;
        member_qualifiers(x, &f->b, &f->c);
        f->at = 1;
        break;
    case 2:
        f->a = prof_cxx_node(x, CXX_TEMPLATE, f->a, x->ret, 0);
        f->at = 4;
        break;
    case 3:
        f->a = x->ret;
        f->at = 4;
        break;
    case 5:
        f->a = x->ret; /* decltype, a substitution already */
        f->at = x->strict ? 1 : 4;
        x->retry = true;
        break;
    default:
        break;
    }
    if (f->at == 4 && *x->s != 'E')
        prof_cxx_remember(x, f->a);
    f->at = 1;
    while (!x->failed && x->frame == f && f->at == 1)
        nested_next(x, f);
}

/* _ <number>, or __ <number of two digits or more> _: which of several
 * namesakes; not printed. */
static void discriminator(struct cxx *x)
{
    const char *from;
    bool two;

    if (*x->s != '_' || (x->block && !cxx_is_digit(x->s[1])))
        return;
    x->s++;
    two = cxx_take(x, '_');
    from = x->s;
    while (cxx_is_digit(*x->s))
        x->s++;
    if (two && x->s - from > 1)
        cxx_want(x, '_');
}

/* After the enclosing function, whose returned type GNU does not print. */
static void local_entity(struct cxx *x, struct cxx_frame *f)
{
    f->a = x->ret;
    cxx_at(x, f->a)->flags |= CXX_AROUND_LOCAL;
    cxx_want(x, 'E');
    if (x->failed)
        return;
    if (cxx_take(x, 's')) {
        uint16_t name = prof_cxx_word(x, CXX_WORD, CXX_W_STRING_LITERAL, 0);

        discriminator(x);
        prof_cxx_give(x, prof_cxx_node(x, CXX_LOCAL, f->a, name, 0));
        return;
    }
    if (cxx_take(x, 'd'))
        f->b = (uint16_t)(prof_cxx_compact(x) + 1);
    prof_cxx_call(x, 2, CXX_R_NAME, 0);
}

void prof_cxx_local(struct cxx *x, struct cxx_frame *f)
{
    if (f->at == 0) {
        x->s++;
        x->nested++;
        prof_cxx_call(x, 1, CXX_R_ENCODING, 0);
    } else if (f->at == 1) {
        x->nested--;
        local_entity(x, f);
    } else {
        uint16_t name = x->ret;

        if (f->b != 0)
            name = prof_cxx_node(x, CXX_DEFAULT_ARG, name, 0, f->b);
        else if (cxx_at(x, name)->kind != CXX_LAMBDA &&
                 cxx_at(x, name)->kind != CXX_UNNAMED)
            discriminator(x);
        prof_cxx_give(x, prof_cxx_node(x, CXX_LOCAL, f->a, name, 0));
    }
}

/* C1 to C5, CI1 <type>, D0 to D5. An inherited constructor bears the name of
 * the class that it comes from. */
static void structor(struct cxx *x, struct cxx_frame *f)
{
    uint8_t kind = *x->s == 'C' ? CXX_CTOR : CXX_DTOR;
    bool inherited;

    x->s++;
    inherited = kind == CXX_CTOR && cxx_take(x, 'I');
    if (f->a == 0 || *x->s < (kind == CXX_CTOR ? '1' : '0') || *x->s > '5') {
        cxx_fail(x);
        return;
    }
    x->s++;
    if (inherited)
        prof_cxx_call(x, 3, CXX_R_TYPE, 0);
    else
        f->c = prof_cxx_node(x, kind, base_name(x, f->a), 0, 0);
}

/* First turn of an unqualified name: the name without tags and scope comes
 * into f->c with f->at = 1, or into x->ret when a rule was called. */
static void unqualified_begin(struct cxx *x, struct cxx_frame *f)
{
    char c;

    if (*x->s == 'W' && !prof_cxx_module(x, &f->b))
        return;
    if (cxx_take(x, 'F'))
        x->llvm = true;
    c = *x->s;
    f->at = 1;
    if (cxx_is_digit(c)) {
        f->c = prof_cxx_source_name(x);
    } else if (cxx_is_lower(c)) {
        if (c == 'o' && x->s[1] == 'n')
            x->s += 2;
        prof_cxx_call(x, 2, CXX_R_OPERATOR, 0);
    } else if (c == 'D' && x->s[1] == 'C') {
        prof_cxx_call(x, 2, CXX_R_BINDING, 0);
    } else if (c == 'C' || c == 'D') {
        structor(x, f);
    } else if (c == 'L') {
        x->s++;
        f->c = prof_cxx_source_name(x);
        if (!x->failed)
            discriminator(x);
    } else if (c == 'U' && x->s[1] == 'l') {
        prof_cxx_call(x, 2, CXX_R_LAMBDA, 0);
    } else if (c == 'U' && x->s[1] == 't') {
        x->s += 2;
        f->c = prof_cxx_node(x, CXX_UNNAMED, 0, 0, prof_cxx_compact(x));
        x->retry = true;
        if (!x->strict)
            prof_cxx_remember(x, f->c);
    } else {
        cxx_fail(x);
    }
}

void prof_cxx_unqualified(struct cxx *x, struct cxx_frame *f)
{
    if (f->at == 0) {
        unqualified_begin(x, f);
        if (x->failed || x->frame != f)
            return;
    } else if (f->at == 2) {
        f->c = x->ret;
    } else if (f->at == 3) {
        f->c = prof_cxx_node(x, CXX_CTOR, base_name(x, x->ret), 0, 0);
    }
    if (f->b != 0)
        f->c = prof_cxx_node(x, CXX_ENTITY, f->c, f->b, 0);
    while (!x->failed && cxx_take(x, 'B'))
        f->c = prof_cxx_node(x, CXX_TAGGED, f->c, prof_cxx_source_name(x), 0);
    if (x->failed)
        return;
    if (f->a != 0)
        f->c = prof_cxx_qual(x, f->a, f->c);
    prof_cxx_give(x, f->c);
}

void prof_cxx_operator(struct cxx *x, struct cxx_frame *f)
{
    uint16_t op;

    if (f->at == 1) {
        x->in_conversion = f->b != 0;
        prof_cxx_give(x, prof_cxx_node(x, CXX_CONVERSION, x->ret, 0, 0));
        return;
    }
    if (*x->s == 'v' && cxx_is_digit(x->s[1])) {
        x->s += 2;
        prof_cxx_give(x, prof_cxx_node(x, CXX_OPERATOR_OF,
                                       prof_cxx_source_name(x), 0, 0));
        return;
    }
    if (cxx_next(x, 'c', 'v')) {
        x->s += 2;
        f->b = x->in_conversion;
        x->in_conversion = true;
        x->conversions = true;
        prof_cxx_call(x, 1, CXX_R_TYPE, 0);
        return;
    }
    op = prof_cxx_op(x->s[0], x->s[0] == 0 ? 0 : x->s[1]);
    if (op == 0xffff) {
        cxx_fail(x);
        return;
    }
    x->s += 2;
    if (prof_cxx_ops[op].shape == CXX_OP_NAME_ONLY)
        prof_cxx_give(x, prof_cxx_node(x, CXX_LITERAL_OP,
                                       prof_cxx_source_name(x), 0, 0));
    else
        prof_cxx_give(x, prof_cxx_node(x, CXX_OPERATOR, op, 0, 0));
}

/* Ul <template head> <parameter types> E <number> _ */
void prof_cxx_lambda(struct cxx *x, struct cxx_frame *f)
{
    if (f->at == 0) {
        x->s += 2;
        x->invented[0] = x->invented[1] = x->invented[2] = 0;
    } else if (f->at == 1) {
        prof_cxx_append(x, &f->b, &f->c, x->ret);
    } else {
        uint16_t list = cxx_at(x, x->ret)->b;

        cxx_want(x, 'E');
        prof_cxx_give(x, prof_cxx_node(x, CXX_LAMBDA, list, f->b,
                                       prof_cxx_compact(x)));
        return;
    }
    if (*x->s == 'T' && !cxx_is_digit(x->s[1]) && x->s[1] != '_' &&
        x->s[1] != 'L')
        prof_cxx_call(x, 1, CXX_R_TPARAM_DECL, 0);
    else
        prof_cxx_call(x, 2, CXX_R_BARE, 0);
}

/* DC <source name>+ E */
void prof_cxx_binding(struct cxx *x, struct cxx_frame *f)
{
    x->s += 2;
    while (!x->failed && !cxx_take(x, 'E'))
        prof_cxx_append(x, &f->a, &f->b, prof_cxx_source_name(x));
    prof_cxx_give(x, f->a == 0 ? 0 : prof_cxx_node(x, CXX_BINDING, f->a, 0, 0));
}
