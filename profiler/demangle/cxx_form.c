/* SPDX-License-Identifier: Apache-2.0 */
/* C++ names, parser: runs the steps of forms (cxx_forms.h). */

#include "demangle/cxx_forms.h"

bool prof_cxx_is_fparam(const struct cxx *x)
{
    return *x->s == 'f' &&
           (x->s[1] == 'p' || (x->s[1] == 'L' && cxx_is_digit(x->s[2])));
}

/* After a member access a lone lower-case code may be an operator's name. */
static uint8_t member_rule(const struct cxx *x)
{
    return cxx_is_lower(*x->s) && !cxx_next(x, 's', 'r') &&
                   !cxx_next(x, 'o', 'n') && !cxx_next(x, 'g', 's')
               ? CXX_R_UNQUALIFIED
               : CXX_R_EXPR;
}

/* A list of any length up to (end); with CXX_SOME at least one element. */
static void list_to(struct cxx *x, const struct cxx_frame *f, char end,
                    unsigned rule)
{
    prof_cxx_call(x, f->at, CXX_R_LIST,
                  (uint16_t)(rule << 8 | (unsigned char)end));
}

/* pi <expression>* E | il <expression>* E | E */
static void initializer(struct cxx *x, const struct cxx_frame *f)
{
    if (cxx_take(x, 'E')) {
        x->ret = 0;
    } else if (cxx_next(x, 'p', 'i')) {
        x->s += 2;
        list_to(x, f, 'E', CXX_R_EXPR);
    } else if (cxx_next(x, 'i', 'l')) {
        prof_cxx_call(x, f->at, CXX_R_EXPR, 0);
    } else {
        cxx_fail(x);
    }
}

/* The steps that call a rule. (next): the bytes after the step. */
static void call(struct cxx *x, struct cxx_frame *f, uint8_t step,
                 const uint8_t *next)
{
    uint8_t rule = CXX_R_EXPR;

    switch (step) {
    case MANY:
    case SOME:
        f->at += 2;
        list_to(x, f, (char)(next[0] | (step == SOME ? CXX_SOME : 0)), next[1]);
        return;
    case SIGNATURE:
        prof_cxx_call(x, f->at, CXX_R_BARE, 1);
        return;
    case NUMBER:
        if (cxx_is_digit(*x->s)) {
            x->ret = prof_cxx_digits(x);
            return;
        }
        break;
    case TYPE_OF:
        rule = prof_cxx_is_fparam(x) ? CXX_R_EXPR : CXX_R_TYPE;
        break;
    case MEMBER:
        rule = member_rule(x);
        break;
    case ARGUMENTS:
        if (*x->s != 'I') {
            prof_cxx_give(x, x->ret);
            return;
        }
        f->a = x->ret;
        rule = CXX_R_ARGS;
        break;
    default:
        initializer(x, f);
        return;
    }
    prof_cxx_call(x, f->at, rule, 0);
}

/* h <number> _ | v <number> _ <number> _. Offsets are not printed. */
static void call_offset(struct cxx *x)
{
    int numbers = *x->s == 'v' ? 2 : 1;

    if (!cxx_take(x, 'h') && !cxx_take(x, 'v'))
        cxx_fail(x);
    for (; numbers > 0; numbers--) {
        cxx_take(x, 'n');
        if (!cxx_is_digit(*x->s))
            cxx_fail(x);
        prof_cxx_digits(x);
        cxx_want(x, '_');
    }
}

/* The steps that read the name, without a rule. */
static void read(struct cxx *x, struct cxx_frame *f, uint8_t step,
                 const uint8_t *next)
{
    switch (step) {
    case SKIP:
        x->s++;
        break;
    case BACK:
        x->s--;
        break;
    case UNLESS:
        f->at += 2;
        if (!cxx_take(x, (char)next[0])) {
            f->rule = next[1];
            f->at = 0;
        }
        break;
    case TAKE:
        cxx_take(x, (char)next[0]);
        f->at++;
        break;
    case WANT:
        cxx_want(x, (char)next[0]);
        f->at++;
        break;
    case LLVM:
        x->llvm = true;
        break;
    case WORD:
        x->ret = prof_cxx_source_name(x);
        break;
    case DIGITS:
        x->ret = prof_cxx_digits(x);
        break;
    case OFFSET:
        prof_cxx_number(x);
        break;
    case MODULE:
        x->ret = 0;
        if (*x->s != 'W' || !prof_cxx_module(x, &x->ret))
            cxx_fail(x);
        break;
    case CALL_OFFSET:
        call_offset(x);
        break;
    default:
        cxx_fail(x);
    }
}

/* The operator of a fold, with the fold's form, the letter f->c. */
static uint16_t fold_operator(struct cxx *x, char form)
{
    uint16_t op = prof_cxx_take_op(x);

    return (uint16_t)(op | (form == 'l'   ? CXX_FOLD_LEFT
                            : form == 'r' ? CXX_FOLD_RIGHT
                            : form == 'L' ? CXX_FOLD_LEFT_INIT
                                          : CXX_FOLD_RIGHT_INIT));
}

static uint8_t kind_behind_cv(const struct cxx *x, uint16_t node)
{
    while (cxx_at(x, node)->kind >= CXX_CONST &&
           cxx_at(x, node)->kind <= CXX_RESTRICT)
        node = cxx_at(x, node)->a;
    return cxx_at(x, node)->kind;
}

/* The steps that keep, check and change results. */
static void keep(struct cxx *x, struct cxx_frame *f, uint8_t step,
                 const uint8_t *next)
{
    uint16_t ret = x->ret;

    switch (step) {
    case A:
        f->a = ret;
        break;
    case B:
        f->b = ret;
        break;
    case SWAP:
        x->ret = f->a;
        f->a = ret;
        break;
    case OPERATOR:
        f->c = fold_operator(x, (char)f->c);
        break;
    case CLONE: /* the non-transaction one is the next special */
        if (cxx_take(x, 'n'))
            f->c++;
        else
            cxx_want(x, 't');
        break;
    case NOEXCEPT:
        if (cxx_take(x, 'N'))
            f->c = 'N';
        break;
    case NO_ARRAY:
        if (kind_behind_cv(x, ret) == CXX_ARRAY)
            cxx_fail(x);
        break;
    case NO_VOID:
        x->ret = prof_cxx_no_void(x, ret);
        break;
    case REFERENCE:
        if (*x->s == 'R' || *x->s == 'O')
            x->ret = prof_cxx_node(x, *x->s++ == 'R' ? CXX_F_LREF : CXX_F_RREF,
                                   ret, 0, 0);
        break;
    case PAIR:
        x->ret = prof_cxx_node(x, CXX_LIST, f->b, ret, 0);
        break;
    case TEMPLATE:
        x->ret = prof_cxx_pair(x, CXX_TEMPLATE, f->a, ret);
        break;
    default: /* MAKE */
        f->at++;
        x->ret = prof_cxx_node(x, next[0], ret, f->a, 0);
        f->a = 0;
    }
}

/* A declared parameter has no name in the mangled form. The printer invents one
 * ($T, $N or $TT); the number here, by kind, is that of LLVM. */
static uint16_t declare(struct cxx *x, uint16_t form, uint16_t made_of)
{
    unsigned which = form == 'n' ? 1 : form == 't' ? 2 : 0;
    uint16_t number = 0;

    if (form != 'p')
        number = x->invented[which]++;
    return prof_cxx_node(x, CXX_TPARAM_DECL, made_of, number, form);
}

static void float_type(struct cxx *x)
{
    char form = *x->s;

    if (form != '_' && form != 'x' && form != 'b')
        cxx_fail(x);
    else
        x->s++;
    prof_cxx_give_node(x, CXX_FLOATN, x->ret, 0, (uint16_t)form);
}

/* The last steps. */
static void give(struct cxx *x, struct cxx_frame *f, uint8_t step, uint8_t kind)
{
    switch (step) {
    case GIVE:
        prof_cxx_give(x, x->ret);
        break;
    case NODE:
        prof_cxx_give_node(x, kind, x->ret, f->a, f->c);
        break;
    case NEW:
        prof_cxx_give_new(x, prof_cxx_node(x, kind, x->ret, f->a, 0));
        break;
    case DECLARED:
        prof_cxx_give(x, declare(x, f->c, x->ret));
        break;
    case FLOAT:
        float_type(x);
        break;
    default:
        prof_cxx_temporary(x, f);
    }
}

void prof_cxx_form(struct cxx *x, struct cxx_frame *f)
{
    while (x->frame == f && !x->failed) {
        const uint8_t *next = prof_cxx_forms[f->rule - CXX_R_FORMS] + f->at++;
        uint8_t step = *next++;

        if (step < CXX_RULES)
            prof_cxx_call(x, f->at, step, 0);
        else if (step < CALLS)
            read(x, f, step, next);
        else if (step < KEEPS)
            call(x, f, step, next);
        else if (step < GIVES)
            keep(x, f, step, next);
        else
            give(x, f, step, *next);
    }
}

/* A list up to a byte, which is consumed. f->a: the byte, CXX_SOME, and the
 * rule of an element. */
void prof_cxx_list_rule(struct cxx *x, struct cxx_frame *f)
{
    if (f->at == 1)
        prof_cxx_append(x, &f->b, &f->c, x->ret);
    if ((f->at == 1 || !(f->a & CXX_SOME)) && cxx_take(x, (char)(f->a & 0x7f)))
        prof_cxx_give(x, prof_cxx_list(x, f->b, f->c));
    else
        prof_cxx_call(x, 1, (uint8_t)(f->a >> 8), 0);
}
