/* SPDX-License-Identifier: Apache-2.0 */
/*
 * C++ names, parser: types, template arguments, literals, and expressions as
 * far as they are no forms (ABI 5.1.3, 5.1.5 to 5.1.8).
 *
 * Every type except a builtin one becomes a substitution after it was parsed.
 */

#include "demangle/cxx_parse.h"

uint8_t cxx_modifier(char c)
{
    static const uint8_t kinds['r' - 'C' + 1] = {
        ['P' - 'C'] = CXX_POINTER,   ['R' - 'C'] = CXX_LREF,
        ['O' - 'C'] = CXX_RREF,      ['C' - 'C'] = CXX_COMPLEX,
        ['G' - 'C'] = CXX_IMAGINARY, ['K' - 'C'] = CXX_CONST,
        ['V' - 'C'] = CXX_VOLATILE,  ['r' - 'C'] = CXX_RESTRICT,
    };
    unsigned i = (unsigned)((unsigned char)c - 'C');

    return i < sizeof kinds ? kinds[i] : 0;
}

/* The same, but a cv-qualifier is handled here only if it is the only one and
 * does not precede a function. */
static uint8_t modifier(const char *s)
{
    uint8_t kind = cxx_modifier(*s);

    if (kind >= CXX_CONST && kind <= CXX_RESTRICT &&
        (s[1] == 'r' || s[1] == 'V' || s[1] == 'K' || s[1] == 'F' ||
         s[1] == 'D'))
        return 0;
    return kind;
}

/* After the name f->a of a class or template, which is a new substitution
 * unless (known): <class-enum-type> | <template-template-param>
 * <template-args>. */
static void class_name(struct cxx *x, struct cxx_frame *f, bool known)
{
    if (x->failed)
        return;
    if (!known)
        cxx_remember(x, f->a);
    if (*x->s == 'I')
        cxx_call(x, 2, CXX_R_ARGS, 0);
    else
        cxx_give(x, f->a);
}

/* A type that begins with 'S': an earlier type or template, or a name in std.
 * Rare forms are parsed again from 'S' as a <name>. */
static void substituted(struct cxx *x, struct cxx_frame *f)
{
    const char *s = x->s;

    if (s[1] != 't') {
        f->a = cxx_substitution(x, false);
        if (x->failed || cxx_at(x, f->a)->kind != CXX_MODULE) {
            class_name(x, f, true);
            return;
        }
    } else if (cxx_is_digit(s[2])) {
        x->s += 2;
        f->a = cxx_word(x, CXX_WORD, CXX_W_STD, 0);
        f->a = cxx_pair(x, CXX_QUAL, f->a, cxx_source_name(x));
        if (*x->s != 'B') {
            class_name(x, f, false);
            return;
        }
    }
    x->s = s;
    cxx_call(x, 6, CXX_R_NAME, 0);
}

/* Ts, Tu, Te <name>: an elaborated type, "struct", "union" or "enum". */
static bool is_elaborated(const struct cxx *x)
{
    char kind = x->s[1];

    return (kind == 's' || kind == 'u' || kind == 'e') &&
           (cxx_is_digit(x->s[2]) || x->s[2] == 'N' || x->s[2] == 'S' ||
            x->s[2] == 'Z');
}

/* A cv-qualifier is printed once, so a repeated one needs a closer look. */
static uint32_t modified(struct cxx *x, uint8_t kind, uint32_t node)
{
    const struct cxx_node *n = cxx_at(x, node);
    unsigned flat = n->flags & CXX_FLAT;

    if (kind > CXX_RESTRICT ||
        (kind >= CXX_CONST && n->kind >= CXX_CONST && n->kind <= CXX_RESTRICT))
        flat = 0;
    return cxx_node(x, CXX_IS(kind, flat), node, 0, 0);
}

/* Applies the modifiers, f->c letters from f->b on, to the type x->ret. The
 * last letter binds first; each result is a substitution. */
static void modify(struct cxx *x, struct cxx_frame *f)
{
    const char *from = x->text + f->b;
    uint32_t node = x->ret;

    if (x->nested > 0 && !x->strict && cxx_at(x, node)->kind == CXX_TPARAM)
        x->smashing = true;
    for (const char *s = from + f->c; s != from && !x->failed;) {
        node = modified(x, modifier(--s), node);
        cxx_remember(x, node);
    }
    cxx_give(x, node);
}

/* Consumes the modifiers at the beginning of a type, and parses the type; false
 * if there are none. */
static bool take_modifiers(struct cxx *x, struct cxx_frame *f)
{
    const char *from = x->s;

    while (modifier(x->s) != 0)
        x->s++;
    if (x->s == from)
        return false;
    f->b = from - x->text;
    f->c = x->s - from;
    if (cxx_read_type(x, 1))
        modify(x, f);
    return true;
}

/* The rule for types that begin with (c), 0 if type_begin() decides. */
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
        return CXX_R_VENDOR_QUAL;
    case 'u':
        return CXX_R_VENDOR;
    case 'N':
        return CXX_R_NESTED_TYPE;
    default:
        return 0;
    }
}

/* A type that begins with T: elaborated, or a template parameter. */
static void type_t(struct cxx *x, struct cxx_frame *f)
{
    char kind = x->s[1];

    if (!is_elaborated(x)) {
        cxx_become(x, CXX_R_TPARAM, 0);
        cxx_tparam(x, f);
        return;
    }
    f->c = (uint8_t)kind;
    x->llvm = true;
    x->s += 2;
    cxx_call(x, 4, CXX_R_NAME, 0);
}

/* <class-enum-type> ::= <source-name>, the most frequent form. With ABI tags it
 * is parsed again as a <name>. */
static void type_word(struct cxx *x, struct cxx_frame *f)
{
    const char *s = x->s;

    f->a = cxx_source_name(x);
    if (*x->s == 'B' || x->failed) {
        x->s = s;
        cxx_call(x, 6, CXX_R_NAME, 0);
        return;
    }
    class_name(x, f, false);
}

/* State 0 of <type>: chooses by the first letter. */
static void type_begin(struct cxx *x, struct cxx_frame *f)
{
    char c = *x->s;
    uint8_t rule;

    if (take_modifiers(x, f))
        return;
    rule = rule_of(c);
    if (rule != 0)
        cxx_become(x, rule, 0);
    else if (c == 'S')
        substituted(x, f);
    else if (c == 'T')
        type_t(x, f);
    else if (c == 'F')
        cxx_call(x, 3, CXX_R_FUNCTION, 0);
    else if (c == 'Z' || c == 'W')
        cxx_call(x, 6, CXX_R_NAME, 0);
    else
        type_word(x, f);
}

void cxx_type(struct cxx *x, struct cxx_frame *f)
{
    uint32_t node = x->ret;

    if (f->at == 0) {
        type_begin(x, f);
        return;
    }
    if (f->at == 1) {
        modify(x, f);
        return;
    }
    if (f->at == 2)
        node = cxx_pair(x, CXX_TEMPLATE, f->a, node);
    else if (f->at == 4)
        node = cxx_node(x, CXX_ELABORATED, node, 0, f->c);
    if (f->at == 6 && cxx_at(x, node)->kind == CXX_STD)
        cxx_give(x, node);
    else
        cxx_give_new(x, node);
}

/* A type that begins with D: a builtin type, function qualifiers, or a form. */
void cxx_type_d(struct cxx *x, struct cxx_frame *f)
{
    char c = x->s[1];
    uint32_t builtin = c == 0 ? 0xffff : cxx_builtin_d(c);

    (void)f;
    if (c == 'o' || c == 'O' || c == 'w' || c == 'x') {
        cxx_become(x, CXX_R_QUALIFIED, 0);
    } else if (builtin != 0xffff) {
        x->s += 2;
        cxx_give(x, cxx_word(x, CXX_BUILTIN, builtin, 0));
    } else if (!cxx_begin(x)) {
        cxx_fail(x);
    }
}
/* Kind of the qualifier at x->s, 0 if there is none. */
static uint8_t qualifier(const struct cxx *x)
{
    uint8_t kind = cxx_modifier(*x->s);

    if (kind >= CXX_CONST && kind <= CXX_RESTRICT)
        return kind;
    if (*x->s != 'D')
        return 0;
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

/* Before 'F', cv-qualifiers apply to the function's "this". */
static void qualify_this(struct cxx *x, uint32_t head)
{
    for (; head != 0; head = cxx_at(x, head)->a) {
        struct cxx_node *n = cxx_at(x, head);

        if (n->kind >= CXX_CONST && n->kind <= CXX_RESTRICT)
            n->kind = (uint8_t)(n->kind - CXX_CONST + CXX_F_CONST);
    }
}

static void link_qualifier(struct cxx *x, struct cxx_frame *f, uint32_t node)
{
    if (f->a == 0)
        f->a = node;
    else
        cxx_at(x, f->b)->a = node;
    f->b = node;
}

/* The type x->ret is known. The ref-qualifier of a function (state 3) is
 * printed last, so it must be outermost. */
static void end_qualified(struct cxx *x, struct cxx_frame *f)
{
    struct cxx_node *type = cxx_at(x, x->ret);
    uint32_t inner = x->ret;

    if (f->at == 3 && (type->kind == CXX_F_LREF || type->kind == CXX_F_RREF)) {
        inner = type->a;
        type->a = f->a;
        f->a = x->ret;
    }
    cxx_at(x, f->b)->a = inner;
    cxx_give_new(x, f->a);
}

/* <qualified-type> ::= <qualifiers> <type>, and the qualifiers before a
 * <function-type>. f->a outermost qualifier, f->b innermost. DO <expression> E
 * (noexcept) and Dw <type>+ E (throw) have operands. */
void cxx_qualified(struct cxx *x, struct cxx_frame *f)
{
    uint8_t kind;

    if (f->at == 1) {
        cxx_at(x, f->b)->b = x->ret;
        if (cxx_at(x, f->b)->kind == CXX_F_NOEXCEPT)
            cxx_want(x, 'E');
    } else if (f->at != 0) {
        end_qualified(x, f);
        return;
    }
    while (!x->failed && (kind = qualifier(x)) != 0) {
        bool operand = kind == CXX_F_NOEXCEPT && x->s[1] == 'O';

        x->s += *x->s == 'D' ? 2 : 1;
        link_qualifier(x, f, cxx_node(x, kind, 0, 0, 0));
        if (kind == CXX_F_THROW)
            cxx_call(x, 1, CXX_R_LIST, CXX_R_TYPE << 8 | CXX_SOME | 'E');
        else if (operand)
            cxx_call(x, 1, CXX_R_EXPR, 0);
        else
            continue;
        return;
    }
    if (*x->s == 'F') {
        qualify_this(x, f->a);
        cxx_call(x, 3, CXX_R_FUNCTION, 0);
    } else {
        cxx_call(x, 2, CXX_R_TYPE, 0);
    }
}
/*
 * <type> ::= <template-param>
 *        ::= <template-template-param> <template-args>
 *
 * In a conversion operator's type the arguments may be those of the operator
 * instead: they are the parameter's only if others follow. So they are parsed
 * tentatively there; f->b (position) and f->c (substitutions) are restored if
 * it was wrong. Attempts do not nest, so nothing is parsed more than twice.
 */
void cxx_tparam(struct cxx *x, struct cxx_frame *f)
{
    if (f->at == 0) {
        f->a = cxx_tparam_leaf(x);
        if (x->failed)
            return;
        cxx_remember(x, f->a);
        if (*x->s != 'I') {
            cxx_give(x, f->a);
            return;
        }
        f->b = x->s - x->text;
        f->c = x->sub_count;
        if (x->in_conversion && x->attempt == NULL)
            x->attempt = f;
        cxx_call(x, 1, CXX_R_ARGS, 0);
        return;
    }
    if (x->attempt == f) {
        bool good = x->ret != 0 && *x->s == 'I';

        x->attempt = NULL;
        if (!good) {
            x->s = x->text + f->b;
            x->sub_count = f->c;
            x->node_count = f->a + 1;
            x->in_conversion = true;
            cxx_give(x, f->a);
            return;
        }
    }
    cxx_give_new(x, cxx_pair(x, CXX_TEMPLATE, f->a, x->ret));
}

/* E, or Q <constraint-expression> E. Constraints are not printed. */
static void args_end(struct cxx *x, struct cxx_frame *f)
{
    if (f->at != 2 && cxx_take(x, 'Q')) {
        x->llvm = true;
        cxx_call(x, 2, CXX_R_EXPR, 0);
        return;
    }
    cxx_want(x, 'E');
    cxx_give(x, cxx_list(x, f->a, f->b));
}

/* <template-args> ::= I <template-arg>* [Q <constraint-expr>] E, and the
 * argument pack J <template-arg>* E. */
void cxx_args(struct cxx *x, struct cxx_frame *f)
{
    if (f->at == 2) {
        args_end(x, f);
        return;
    }
    if (f->at == 0)
        x->s++;
    else
        cxx_append(x, &f->a, &f->b, x->ret);
    while (!x->failed) {
        switch (*x->s) {
        case 'E':
        case 'Q':
            args_end(x, f);
            return;
        case 'L':
            cxx_call(x, 1, CXX_R_LITERAL, 0);
            if (!cxx_run(x, f, cxx_literal))
                return;
            break;
        case 'X':
        case 'I':
        case 'J':
        case 'T':
            cxx_call(x, 1, CXX_R_ARG, 0);
            return;
        default:
            if (!cxx_read_type(x, 1))
                return;
        }
        cxx_append(x, &f->a, &f->b, x->ret);
    }
}

/* Whether a template argument begins with the declaration it is for. */
static bool is_declared(const struct cxx *x)
{
    char c;

    if (*x->s != 'T')
        return false;
    c = x->s[1];
    return c == 'y' || c == 'n' || c == 't' || c == 'p' || c == 'k';
}

/* <template-arg> ::= <type> | X <expression> E | <expr-primary>
 *                | J <template-arg>* E | <template-param-decl> <template-arg>
 */
void cxx_arg(struct cxx *x, struct cxx_frame *f)
{
    if (f->at == 1 || f->at == 3) {
        if (f->at == 1)
            cxx_want(x, 'E');
        cxx_give(x, x->ret);
    } else if (f->at == 0 && is_declared(x)) {
        x->llvm = true;
        cxx_call(x, 2, CXX_R_TPARAM_DECL, 0);
    } else if (cxx_take(x, 'X')) {
        cxx_call(x, 1, CXX_R_EXPR, 0);
    } else if (*x->s == 'L') {
        cxx_become(x, CXX_R_LITERAL, 0);
    } else if (*x->s == 'I' || *x->s == 'J') {
        cxx_become(x, CXX_R_ARGS, 0);
    } else if (cxx_read_type(x, 3)) {
        cxx_give(x, x->ret);
    }
}

/* Whether C++ has a literal syntax for (type), so that it is printed without a
 * cast. The value is from (from) to x->s. */
static bool is_short(const struct cxx *x, uint32_t type, const char *from,
                     bool negative)
{
    const struct cxx_node *n = cxx_at(x, type);
    uint8_t print;

    if (n->kind != CXX_BUILTIN)
        return false;
    print = cxx_builtins[n->a].print;
    return print == CXX_AS_INT ||
           (print == CXX_AS_BOOL && !negative && x->s - from == 1 &&
            (*from == '0' || *from == '1'));
}

/* The value of a literal of type f->a. Only nullptr and string literals have no
 * value. */
static uint32_t literal_value(struct cxx *x, struct cxx_frame *f)
{
    const struct cxx_node *type = cxx_at(x, f->a);
    uint32_t negative, value;
    const char *from;
    unsigned flat;

    if (*x->s == 'E' && type->kind == CXX_ARRAY) {
        x->llvm = true;
        return cxx_node(x, CXX_LITERAL, f->a, 0, 0);
    }
    if (*x->s == 'E')
        return type->kind == CXX_BUILTIN && type->a == cxx_builtin_d('n') ? f->a
                                                                          : 0;
    negative = cxx_take(x, 'n');
    from = x->s;
    while (*x->s != 'E' && *x->s != 0)
        x->s++;
    if (x->s == from)
        return 0;
    value = cxx_word(x, CXX_NAME, from - x->text, x->s - from);
    flat = is_short(x, f->a, from, negative) ? CXX_FLAT_LEAF : 0;
    return cxx_node(x, CXX_IS(CXX_LITERAL, flat), f->a, value, negative);
}

/* <expr-primary> ::= L <type> <value> E | L <type> E | L _Z <encoding> E
 *                | L <lambda type> E */
void cxx_literal(struct cxx *x, struct cxx_frame *f)
{
    switch (f->at) {
    case 0:
        x->s++;
        if (*x->s == '_' || *x->s == 'Z') {
            cxx_take(x, '_');
            cxx_want(x, 'Z');
            x->nested++;
            cxx_call(x, 3, CXX_R_ENCODING, 0);
            return;
        }
        if (cxx_next(x, 'U', 'l')) {
            x->llvm = true;
            cxx_call(x, 1, CXX_R_LAMBDA, 0);
            return;
        }
        if (!cxx_read_type(x, 2))
            return; /* fall through */
    case 2:
        f->a = x->ret;
        x->ret = literal_value(x, f);
        break;
    case 3:
        x->nested--;
        break;
    default:
        break;
    }
    cxx_want(x, 'E');
    cxx_give(x, x->ret);
}
uint32_t cxx_take_op(struct cxx *x)
{
    uint32_t op = cxx_find(x->s, cxx_ops, sizeof *cxx_ops, CXX_OPS);

    if (op == CXX_OPS)
        return cxx_fail(x);
    x->s += 2;
    return op;
}

/* <operator-name> ::= two letters | cv <type> | li <source-name>
 *                 ::= v <digit> <source-name>                 vendor's */
void cxx_operator(struct cxx *x, struct cxx_frame *f)
{
    uint32_t op;

    if (f->at == 1) {
        x->in_conversion = f->b != 0;
        cxx_give_node(x, CXX_CONVERSION, x->ret, 0, 0);
        return;
    }
    if (*x->s == 'v' && cxx_is_digit(x->s[1])) {
        x->s += 2;
        cxx_give_node(x, CXX_OPERATOR_OF, cxx_source_name(x), 0, 0);
        return;
    }
    if (cxx_next(x, 'c', 'v')) {
        x->s += 2;
        f->b = x->in_conversion;
        x->in_conversion = true;
        cxx_call(x, 1, CXX_R_TYPE, 0);
        return;
    }
    op = cxx_take_op(x);
    if (x->failed)
        return;
    if (cxx_ops[op].shape == CXX_OP_NAME_ONLY)
        cxx_give_node(x, CXX_LITERAL_OP, cxx_source_name(x), 0, 0);
    else
        cxx_give_node(x, CXX_OPERATOR, op, 0, 0);
}

/* <closure-type-name> ::= Ul <template-param-decl>* <type>+ E [<number>] _
 * f->b and f->c: list of the declared template parameters. */
void cxx_lambda(struct cxx *x, struct cxx_frame *f)
{
    if (f->at == 0) {
        x->s += 2;
        x->invented[0] = x->invented[1] = x->invented[2] = 0;
    } else if (f->at == 1) {
        cxx_append(x, &f->b, &f->c, x->ret);
    } else {
        uint32_t list = cxx_at(x, x->ret)->b;

        cxx_want(x, 'E');
        cxx_give_node(x, CXX_LAMBDA, list, f->b, cxx_compact(x));
        return;
    }
    if (*x->s == 'T' && !cxx_is_digit(x->s[1]) && x->s[1] != '_' &&
        x->s[1] != 'L')
        cxx_call(x, 1, CXX_R_TPARAM_DECL, 0);
    else
        cxx_call(x, 2, CXX_R_BARE, 0);
}

/* <requirement> ::= X <expression> ... | T <type> | Q <expression> */
void cxx_requirement(struct cxx *x, struct cxx_frame *f)
{
    char c = *x->s;

    cxx_become(x,
               c == 'X'   ? CXX_R_NEEDS_EXPR
               : c == 'T' ? CXX_R_NEEDS_TYPE
                          : CXX_R_NEEDS_MORE,
               0);
    f->c = (uint8_t)c;
    if (c == 'X' || c == 'T' || c == 'Q')
        x->s++;
    else
        cxx_fail(x);
}

/* <template-param-decl> */
void cxx_tparam_decl(struct cxx *x, struct cxx_frame *f)
{
    (void)f;
    if (*x->s != 'T' || !cxx_begin(x))
        cxx_fail(x);
}

/* <function-param> ::= fp <CV-qualifiers> [<number>] _ | fpT
 *                  ::= fL <number> p <CV-qualifiers> [<number>] _ */
static uint32_t function_parameter(struct cxx *x)
{
    if (cxx_take(x, 'f') && cxx_take(x, 'L')) {
        x->llvm = true;
        cxx_number(x);
    }
    cxx_want(x, 'p');
    if (cxx_take(x, 'T'))
        return cxx_word(x, CXX_WORD, CXX_W_THIS, 0);
    while (*x->s == 'r' || *x->s == 'V' || *x->s == 'K')
        x->s++;
    return cxx_node(x, CXX_FPARAM, 0, 0, cxx_compact(x));
}

/* An operator with its operands. */
static void operation(struct cxx *x, struct cxx_frame *f)
{
    uint32_t op = cxx_take_op(x);

    if (x->failed)
        return;
    if (cxx_ops[op].llvm)
        x->llvm = true;
    cxx_become(x, (uint8_t)(CXX_R_OPERATION + cxx_ops[op].shape), 0);
    f->c = op;
}

/* <expression>: chooses the rule by the first letters. */
void cxx_expr(struct cxx *x, struct cxx_frame *f)
{
    char c = *x->s;
    uint8_t rule = c == 'L'                                   ? CXX_R_LITERAL
                   : cxx_is_digit(c) || cxx_next(x, 'o', 'n') ? CXX_R_WORD_EXPR
                   : c == 'u' && cxx_is_digit(x->s[1]) ? CXX_R_VENDOR_EXPR
                                                       : 0;

    if (rule != 0)
        cxx_become(x, rule, 0);
    else if (c == 'T' && (cxx_is_digit(x->s[1]) || x->s[1] == '_'))
        cxx_give(x, cxx_tparam_leaf(x));
    else if (cxx_is_fparam(x))
        cxx_give(x, function_parameter(x));
    else if (!cxx_is_lower(c) || !cxx_begin(x))
        operation(x, f);
}

/*
 * <unresolved-name> ::= sr <unresolved-type> <base-unresolved-name>
 *                   ::= sr <unresolved-qualifier-level>+ E
 *                       <base-unresolved-name>
 * f->a is the scope so far; f->c = 1: the name being parsed is the last.
 */
void cxx_scoped(struct cxx *x, struct cxx_frame *f)
{
    switch (f->at) {
    case 0:
        f->c = 0;
        cxx_call(x, cxx_is_digit(*x->s) ? 2 : 1,
                 cxx_is_digit(*x->s) ? CXX_R_UNQUALIFIED : CXX_R_TYPE, 0);
        return;
    case 1:
        f->c = 1;
        cxx_call(x, 2, CXX_R_UNQUALIFIED, x->ret);
        return;
    case 2:
        f->a = x->ret;
        if (*x->s == 'I') {
            cxx_call(x, 3, CXX_R_ARGS, 0);
            return;
        }
        break;
    default:
        f->a = cxx_pair(x, CXX_TEMPLATE, f->a, x->ret);
    }
    if (f->c) {
        cxx_give(x, f->a);
        return;
    }
    f->c = cxx_take(x, 'E');
    cxx_call(x, 2, CXX_R_UNQUALIFIED, f->a);
}
