/* SPDX-License-Identifier: Apache-2.0 */
/*
 * C++ names, reading: types (ABI 5.1.5).
 *
 * Every type but a builtin one becomes a substitution when it has been read.
 */

#include "cxx_parse.h"

/* A type made of one letter and a type: the kind of what (*s) stands for, 0 if
 * there is no such letter. A qualifier is one only where it stands alone and
 * not before a function. */
static uint8_t modifier(const char *s)
{
    static const uint8_t kinds['r' - 'C' + 1] = {
        ['P' - 'C'] = CXX_POINTER,   ['R' - 'C'] = CXX_LREF,
        ['O' - 'C'] = CXX_RREF,      ['C' - 'C'] = CXX_COMPLEX,
        ['G' - 'C'] = CXX_IMAGINARY, ['K' - 'C'] = CXX_CONST,
        ['V' - 'C'] = CXX_VOLATILE,  ['r' - 'C'] = CXX_RESTRICT,
    };
    unsigned i = (unsigned char)*s - 'C';
    uint8_t kind = i < sizeof kinds ? kinds[i] : 0;

    if (kind >= CXX_CONST && kind <= CXX_RESTRICT &&
        (s[1] == 'r' || s[1] == 'V' || s[1] == 'K' || s[1] == 'F' ||
         s[1] == 'D'))
        return 0;
    return kind;
}

/* A template's name has been read, or that of a class: f->a. It is a new
 * substitution unless (known). */
static void class_name(struct cxx *x, struct cxx_frame *f, bool known)
{
    if (x->failed)
        return;
    if (!known)
        cxx_remember(x, f->a);
    if (*x->s == 'I')
        prof_cxx_call(x, 2, CXX_R_ARGS, 0);
    else
        prof_cxx_give(x, f->a);
}

/* 'S' in a type: an earlier type, an earlier template, or a standard name. */
static void substituted(struct cxx *x, struct cxx_frame *f)
{
    const char *s = x->s;

    if (s[1] != 't') {
        f->a = prof_cxx_substitution(x, false);
        if (x->failed || cxx_at(x, f->a)->kind != CXX_MODULE) {
            class_name(x, f, true);
            return;
        }
    } else if (cxx_is_digit(s[2])) {
        x->s += 2;
        f->a = prof_cxx_word(x, CXX_WORD, CXX_W_STD, 0);
        f->a = prof_cxx_pair(x, CXX_QUAL, f->a, prof_cxx_source_name(x));
        if (*x->s != 'B') {
            class_name(x, f, false);
            return;
        }
    }
    x->s = s;
    prof_cxx_call(x, 6, CXX_R_NAME, 0);
}

/* Ts, Tu, Te: "struct", "union" or "enum" said in the name itself. */
static bool is_elaborated(const struct cxx *x)
{
    char kind = x->s[1];

    return (kind == 's' || kind == 'u' || kind == 'e') &&
           (cxx_is_digit(x->s[2]) || x->s[2] == 'N' || x->s[2] == 'S' ||
            x->s[2] == 'Z');
}

/* const and its kin are said once: what is doubled needs a closer look. */
static uint16_t modified(struct cxx *x, uint8_t kind, uint16_t node)
{
    const struct cxx_node *n = cxx_at(x, node);
    unsigned flat = n->flags & CXX_FLAT;

    if (kind > CXX_RESTRICT ||
        (kind >= CXX_CONST && n->kind >= CXX_CONST && n->kind <= CXX_RESTRICT))
        flat = 0;
    return prof_cxx_node(x, CXX_IS(kind, flat), node, 0, 0);
}

/* Ends a type that began with modifiers: f->c letters from f->b on. */
static void modify(struct cxx *x, struct cxx_frame *f)
{
    const char *from = x->text + f->b;
    uint16_t node = x->ret;

    if (x->nested > 0 && !x->strict && cxx_at(x, node)->kind == CXX_TPARAM)
        x->smashing = true;
    for (const char *s = from + f->c; s != from && !x->failed;) {
        node = modified(x, modifier(--s), node);
        cxx_remember(x, node);
    }
    prof_cxx_give(x, node);
}

/* Reads the modifiers that a type begins with; false if there are none. */
static bool take_modifiers(struct cxx *x, struct cxx_frame *f)
{
    const char *from = x->s;

    while (modifier(x->s) != 0)
        x->s++;
    if (x->s == from)
        return false;
    f->b = (uint16_t)(from - x->text);
    f->c = (uint16_t)(x->s - from);
    if (prof_cxx_read_type(x, 1))
        modify(x, f);
    return true;
}

/* The rule for types that begin with (c), 0 if it is not one for itself. */
static uint8_t rule_of(char c)
{
    switch (c) {
    case 'r':
    case 'V':
    case 'K':
        return CXX_R_QUALIFIED;
    case 'D':
        return CXX_R_TYPE_D;
    case 'A':
        return CXX_R_ARRAY;
    case 'M':
        return CXX_R_MEMBER;
    case 'U':
    case 'u':
        return CXX_R_VENDOR;
    case 'N':
        return CXX_R_NESTED_TYPE;
    default:
        return 0;
    }
}

/* The rest of a type that begins with T. */
static void type_t(struct cxx *x, struct cxx_frame *f)
{
    char kind = x->s[1];

    if (!is_elaborated(x)) {
        prof_cxx_become(x, CXX_R_TPARAM, 0);
        prof_cxx_tparam(x, f);
        return;
    }
    f->c = kind == 's' ? CXX_E_STRUCT : kind == 'u' ? CXX_E_UNION : CXX_E_ENUM;
    x->llvm = true;
    x->s += 2;
    prof_cxx_call(x, 4, CXX_R_NAME, 0);
}

/* A class of one name; one with tags is read as any name. */
static void type_word(struct cxx *x, struct cxx_frame *f)
{
    const char *s = x->s;

    f->a = prof_cxx_source_name(x);
    if (*x->s == 'B' || x->failed) {
        x->s = s;
        prof_cxx_call(x, 6, CXX_R_NAME, 0);
        return;
    }
    class_name(x, f, false);
}

static void type_begin(struct cxx *x, struct cxx_frame *f)
{
    char c = *x->s;
    uint8_t rule;

    if (take_modifiers(x, f))
        return;
    rule = rule_of(c);
    if (rule != 0)
        prof_cxx_become(x, rule, 0);
    else if (c == 'S')
        substituted(x, f);
    else if (c == 'T')
        type_t(x, f);
    else if (c == 'F')
        prof_cxx_call(x, 3, CXX_R_FUNCTION, 0);
    else if (c == 'Z' || c == 'W')
        prof_cxx_call(x, 6, CXX_R_NAME, 0);
    else
        type_word(x, f);
}

void prof_cxx_type(struct cxx *x, struct cxx_frame *f)
{
    uint16_t node = x->ret;

    switch (f->at) {
    case 0:
        type_begin(x, f);
        return;
    case 1:
        modify(x, f);
        return;
    case 2:
        node = prof_cxx_pair(x, CXX_TEMPLATE, f->a, node);
        break;
    case 3:
        break;
    case 4:
        node = prof_cxx_node(x, CXX_ELABORATED, node, 0, f->c);
        break;
    default:
        if (cxx_at(x, node)->kind == CXX_STD) {
            prof_cxx_give(x, node);
            return;
        }
        break;
    }
    prof_cxx_give_new(x, node);
}

/* Dv <number> _ <type>, or Dv _ <expression> _ <type>; "Dv" is taken. */
static void vector_begin(struct cxx *x, struct cxx_frame *f)
{
    if (cxx_take(x, '_')) {
        prof_cxx_call(x, 3, CXX_R_EXPR, 0);
        return;
    }
    f->a = prof_cxx_digits(x);
    cxx_want(x, '_');
    prof_cxx_call(x, 4, CXX_R_TYPE, 0);
}

/* DB <number> _, or DB <expression> _; "DB" is taken. DU is unsigned. */
static void bitint_begin(struct cxx *x, struct cxx_frame *f)
{
    x->llvm = true;
    f->c = x->s[-1] == 'U';
    if (!cxx_is_digit(*x->s)) {
        prof_cxx_call(x, 5, CXX_R_EXPR, 0);
        return;
    }
    f->a = prof_cxx_digits(x);
    cxx_want(x, '_');
    prof_cxx_give(x, prof_cxx_node(x, CXX_BITINT, f->a, 0, f->c));
}

/* DF <number> and _, x or b; "DF" is taken. */
static void floatn(struct cxx *x)
{
    uint16_t bits = prof_cxx_digits(x);
    char form = *x->s;

    if (form != '_' && form != 'x' && form != 'b')
        cxx_fail(x);
    else
        x->s++;
    prof_cxx_give(x, prof_cxx_node(x, CXX_FLOATN, bits, 0, (uint16_t)form));
}

/* The first turn of a type whose first letter is D. */
static void type_d_begin(struct cxx *x, struct cxx_frame *f)
{
    char c = x->s[1];
    uint16_t builtin = c == 0 ? 0xffff : prof_cxx_builtin_d(c);

    if (c == 'o' || c == 'O' || c == 'w' || c == 'x') {
        prof_cxx_become(x, CXX_R_QUALIFIED, 0);
        return;
    }
    x->s += c == 0 ? 1 : 2;
    if (builtin != 0xffff)
        prof_cxx_give(x, prof_cxx_word(x, CXX_BUILTIN, builtin, 0));
    else if (c == 't' || c == 'T')
        prof_cxx_call(x, 1, CXX_R_EXPR, 0);
    else if (c == 'p')
        prof_cxx_call(x, 2, CXX_R_TYPE, 0);
    else if (c == 'v')
        vector_begin(x, f);
    else if (c == 'B' || c == 'U')
        bitint_begin(x, f);
    else if (c == 'F')
        floatn(x);
    else
        cxx_fail(x);
}

void prof_cxx_type_d(struct cxx *x, struct cxx_frame *f)
{
    switch (f->at) {
    case 0:
        type_d_begin(x, f);
        return;
    case 1: /* decltype */
        cxx_want(x, 'E');
        prof_cxx_give_new(x, prof_cxx_node(x, CXX_DECLTYPE, x->ret, 0, 0));
        return;
    case 2: /* expansion */
        prof_cxx_give_new(x, prof_cxx_node(x, CXX_EXPANSION, x->ret, 0, 0));
        return;
    case 3: /* vector, after its dimension as an expression */
        f->a = x->ret;
        cxx_want(x, '_');
        prof_cxx_call(x, 4, CXX_R_TYPE, 0);
        return;
    case 4:
        prof_cxx_give_new(x, prof_cxx_node(x, CXX_VECTOR, x->ret, f->a, 0));
        return;
    default: /* _BitInt, after its width as an expression */
        cxx_want(x, '_');
        prof_cxx_give(x, prof_cxx_node(x, CXX_BITINT, x->ret, 0, f->c));
        return;
    }
}

/* The qualifier at x->s: its kind, with *arguments what follows it. */
static uint8_t qualifier(const struct cxx *x, bool *arguments)
{
    *arguments = false;
    switch (*x->s) {
    case 'r':
        return CXX_RESTRICT;
    case 'V':
        return CXX_VOLATILE;
    case 'K':
        return CXX_CONST;
    case 'D':
        break;
    default:
        return 0;
    }
    *arguments = x->s[1] == 'O' || x->s[1] == 'w';
    switch (x->s[1]) {
    case 'x':
        return CXX_F_SAFE;
    case 'o':
    case 'O':
        return CXX_F_NOEXCEPT;
    case 'w':
        return CXX_F_THROW;
    default:
        return 0;
    }
}

/* Before 'F', const and its kin qualify the function's "this". */
static void qualify_this(struct cxx *x, uint16_t head)
{
    for (; head != 0; head = cxx_at(x, head)->a) {
        struct cxx_node *n = cxx_at(x, head);

        if (n->kind >= CXX_CONST && n->kind <= CXX_RESTRICT)
            n->kind = (uint8_t)(n->kind - CXX_CONST + CXX_F_CONST);
    }
}

static void link_qualifier(struct cxx *x, struct cxx_frame *f, uint16_t node)
{
    if (f->a == 0)
        f->a = node;
    else
        cxx_at(x, f->b)->a = node;
    f->b = node;
}

/* f->a outermost qualifier, f->b innermost, f->c list of thrown types. */
void prof_cxx_qualified(struct cxx *x, struct cxx_frame *f)
{
    bool arguments;
    uint8_t kind;
    uint16_t thrown = 0;

    switch (f->at) {
    case 1: /* noexcept(x), throw(a, b): the list goes on until E */
        if (cxx_at(x, f->b)->kind == CXX_F_NOEXCEPT) {
            cxx_at(x, f->b)->b = x->ret;
            cxx_want(x, 'E');
            break;
        }
        thrown = cxx_at(x, f->b)->b;
        prof_cxx_append(x, &thrown, &f->c, x->ret);
        cxx_at(x, f->b)->b = thrown;
        if (!cxx_take(x, 'E')) {
            prof_cxx_call(x, 1, CXX_R_TYPE, 0);
            return;
        }
        break;
    case 2:
    case 3:
        if (f->at == 3 && (cxx_at(x, x->ret)->kind == CXX_F_LREF ||
                           cxx_at(x, x->ret)->kind == CXX_F_RREF)) {
            /* What stands last is the outermost: the reference. */
            cxx_at(x, f->b)->a = cxx_at(x, x->ret)->a;
            cxx_at(x, x->ret)->a = f->a;
            f->a = x->ret;
        } else {
            cxx_at(x, f->b)->a = x->ret;
        }
        prof_cxx_give_new(x, f->a);
        return;
    default:
        break;
    }
    while (!x->failed && (kind = qualifier(x, &arguments)) != 0) {
        x->s += *x->s == 'D' ? 2 : 1;
        link_qualifier(x, f, prof_cxx_node(x, kind, 0, 0, 0));
        if (arguments) {
            f->c = 0;
            prof_cxx_call(x, 1, kind == CXX_F_THROW ? CXX_R_TYPE : CXX_R_EXPR,
                          0);
            return;
        }
    }
    if (*x->s == 'F') {
        qualify_this(x, f->a);
        prof_cxx_call(x, 3, CXX_R_FUNCTION, 0);
    } else {
        prof_cxx_call(x, 2, CXX_R_TYPE, 0);
    }
}

/* F [Y] <types> [R | O] E */
void prof_cxx_function(struct cxx *x, struct cxx_frame *f)
{
    uint16_t node = x->ret;

    if (f->at == 0) {
        x->s++;
        cxx_take(x, 'Y');
        prof_cxx_call(x, 1, CXX_R_BARE, 1);
        return;
    }
    if (cxx_take(x, 'R'))
        node = prof_cxx_node(x, CXX_F_LREF, node, 0, 0);
    else if (cxx_take(x, 'O'))
        node = prof_cxx_node(x, CXX_F_RREF, node, 0, 0);
    cxx_want(x, 'E');
    prof_cxx_give(x, node);
}

/* A [<number> | <expression>] _ <type> */
void prof_cxx_array(struct cxx *x, struct cxx_frame *f)
{
    switch (f->at) {
    case 0:
        x->s++;
        if (*x->s != '_' && !cxx_is_digit(*x->s)) {
            prof_cxx_call(x, 1, CXX_R_EXPR, 0);
            return;
        }
        if (*x->s != '_')
            f->a = prof_cxx_digits(x);
        break;
    case 1:
        f->a = x->ret;
        break;
    default:
        prof_cxx_give_new(x, prof_cxx_node(x, CXX_ARRAY, x->ret, f->a, 0));
        return;
    }
    cxx_want(x, '_');
    prof_cxx_call(x, 2, CXX_R_TYPE, 0);
}

static bool is_array(const struct cxx *x, uint16_t node)
{
    while (cxx_at(x, node)->kind >= CXX_CONST &&
           cxx_at(x, node)->kind <= CXX_RESTRICT)
        node = cxx_at(x, node)->a;
    return cxx_at(x, node)->kind == CXX_ARRAY;
}

/* M <class> <member>; arrays have no members. */
void prof_cxx_member(struct cxx *x, struct cxx_frame *f)
{
    switch (f->at) {
    case 0:
        x->s++;
        prof_cxx_call(x, 1, CXX_R_TYPE, 0);
        return;
    case 1:
        f->a = x->ret;
        if (is_array(x, f->a))
            cxx_fail(x);
        prof_cxx_call(x, 2, CXX_R_TYPE, 0);
        return;
    default:
        prof_cxx_give_new(x, prof_cxx_node(x, CXX_PTRMEM, f->a, x->ret, 0));
    }
}
