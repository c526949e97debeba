/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROF_CXX_H
#define PROF_CXX_H

/*
 * What the parser and the printer of the C++ demangler share.
 *
 * A name is parsed into a graph of small nodes, which is then printed. Both use
 * an explicit stack in the workspace instead of recursion, so that a deeply
 * nested name never overflows the caller's stack:
 *
 *     the caller's 8 KiB
 *     +-----------+-------------------+ ... +----------------+-------+
 *     | struct    | nodes, growing up | ... | stack, growing | subst |
 *     | cxx       |                   |     | down           | table |
 *     +-----------+-------------------+ ... +----------------+-------+
 *
 * While printing, the stack also uses the room of the substitution table. If
 * nodes and stack meet, the name is too complex and is copied unchanged.
 *
 * Grammar: Itanium C++ ABI, chapter 5.1 "External Names (a.k.a. Mangling)".
 */

#include "demangle/buffer.h"

/* Kinds of nodes. a, b and c are the operands of a node: other nodes, unless
 * the comment says otherwise. 0 is "no node". */
enum cxx_kind {
    CXX_NONE,
    /* names */
    CXX_NAME,        /* a = offset in the mangled name, b = bytes */
    CXX_WORD,        /* a = index of a cxx_words[] */
    CXX_STD,         /* a = index of a cxx_std[], b = 1: spelt out */
    CXX_TAGGED,      /* a[abi:b] */
    CXX_MODULE,      /* b, or with c, '.' or ':', between them a and b */
    CXX_ENTITY,      /* a@b */
    CXX_QUAL,        /* a::b */
    CXX_LOCAL,       /* a::b where a is an encoding */
    CXX_DEFAULT_ARG, /* {default arg#c}::a */
    CXX_TYPED,       /* a with function type b; c = constraint */
    CXX_TEMPLATE,    /* a<b> */
    CXX_CTOR,        /* a = name */
    CXX_DTOR,        /* a = name */
    CXX_BINDING,     /* [list a] */
    CXX_LAMBDA,      /* a = parameters, b = template head, c = number */
    CXX_UNNAMED,     /* c = number */
    CXX_SPECIAL,     /* text c, a, [text c + 1, b] of cxx_specials[] */
    CXX_CLONE,       /* a [clone b] */
    CXX_OPERATOR,    /* a = index of a cxx_ops[] */
    CXX_OPERATOR_OF, /* a = vendor's name */
    CXX_FRIEND,      /* friend a */
    CXX_LITERAL_OP,  /* operator"" a */
    CXX_CONVERSION,  /* operator a */
    /* lists: arguments, parameters, packs; b = next, a = 0: empty */
    CXX_LIST,
    /* types; from CXX_POINTER on, those with two halves */
    CXX_BUILTIN, /* a = index of a cxx_builtins[] */
    CXX_VENDOR,  /* a = name */
    CXX_POINTER,
    CXX_LREF,
    CXX_RREF,
    CXX_CONST,
    CXX_VOLATILE,
    CXX_RESTRICT,
    CXX_COMPLEX,
    CXX_IMAGINARY,
    CXX_VENDOR_QUAL, /* a b */
    CXX_FUNCTION,    /* a = returned type or 0, b = parameters */
    CXX_ARRAY,       /* a = element, b = dimension or 0 */
    CXX_PTRMEM,      /* a = class, b = member */
    CXX_VECTOR,      /* a = element, b = dimension */
    CXX_TPARAM,      /* a = index */
    /* qualifiers after a function's parameters; a = the function or name */
    CXX_F_CONST,
    CXX_F_VOLATILE,
    CXX_F_RESTRICT,
    CXX_F_LREF,
    CXX_F_RREF,
    CXX_F_SAFE,     /* transaction_safe */
    CXX_F_NOEXCEPT, /* b = expression or 0 */
    CXX_F_THROW,    /* b = list of types */
    /* types without a second half */
    CXX_EXPANSION,  /* a... */
    CXX_BITINT,     /* a = dimension, c = 'U': unsigned */
    CXX_FLOATN,     /* a = bits, c = suffix */
    CXX_ELABORATED, /* c = s, u, e or t: struct, union, enum or this; a */
    CXX_DECLTYPE,
    /* expressions */
    CXX_FPARAM,      /* c = index */
    CXX_LITERAL,     /* (a)b, c = 1: negative */
    CXX_OPERATION,   /* c = operator; operands: its shape */
    CXX_POSTFIX,     /* c = operator; a */
    CXX_CAST,        /* (a)(b) */
    CXX_BRACES,      /* a{list b}, a may be missing */
    CXX_FOLD,        /* c = operator and form; a, b */
    CXX_NULLARY,     /* c = operator */
    CXX_VENDOR_EXPR, /* a(list b) */
    CXX_DESIGNATED,  /* c = operator; operands: its shape */
    CXX_REQUIRES,    /* a = parameters, b = list of requirements */
    CXX_REQUIREMENT, /* c = form; a, b */
    CXX_TPARAM_DECL, /* c = form, a = what it is made of, b = number */
    CXX_KINDS
};

struct cxx_node {
    union {
        struct {
            uint8_t kind;  /* enum cxx_kind */
            uint8_t flags; /* CXX_AROUND_LOCAL, CXX_FLAT */
        };
        uint16_t kind_and_flags; /* CXX_IS() */
    };
    uint16_t a, b, c;
};

#define CXX_AROUND_LOCAL 1u /* a function that encloses a name */
#define CXX_FLAT 2u         /* its text does not depend on the context */
#define CXX_LEAF 4u         /* and it has no operands that are nodes */
#define CXX_FLAT_LEAF (CXX_FLAT | CXX_LEAF)

/* A stack frame of the parser: one active rule of the grammar. */
struct cxx_frame {
    uint8_t rule;     /* enum cxx_rule */
    uint8_t at;       /* state of the rule, 0 = just called */
    uint16_t a, b, c; /* the rule's own variables */
};

/*
 * One pending item of the printer's stack, with its environment (scope, pack).
 * Items are written and moved as one 64-bit word: a wide load after several
 * narrow stores to the same bytes would defeat store forwarding and stall.
 */
struct cxx_item {
    union {
        struct {
            uint8_t op;    /* enum cxx_op_code */
            uint8_t flags; /* CXX_IN_... */
            uint16_t node;
            uint16_t scope; /* innermost template arguments, 0 = none */
            uint16_t pack;  /* index of the current pack element */
        };
        uint64_t all; /* CXX_TEXT: from bit 16 on; flags = bytes */
    };
    uint16_t aux; /* of the op */
} __attribute__((packed, aligned(2)));

#define CXX_SUBS_MAX 256u
/* Operator and form of a CXX_FOLD share one field. */
#define CXX_FOLD_LEFT 0x100u
#define CXX_FOLD_RIGHT 0x200u
#define CXX_FOLD_LEFT_INIT 0x300u
#define CXX_FOLD_RIGHT_INIT 0x400u
#define CXX_FOLD_FORM 0x700u

struct cxx {
    const char *text; /* the whole name */
    const char *s;    /* next byte to read */
    const char *end;  /* its NUL */
    struct demangle_buffer *out;
    union {
        struct cxx_frame *frame; /* parsing: the rule under way */
        struct cxx_item *item;   /* printing: top of the stack */
    };
    void *floor; /* stack: empty here */
    uint16_t *subs;
    uint16_t node_count;
    uint16_t sub_count;
    uint16_t ret;          /* result of the last rule */
    uint16_t open;         /* printing: types whose right half is pending */
    struct cxx_item it;    /* printing: the item under way, whose environment
                              what is queued has */
    struct cxx_item spare; /* printing: a dummy that is never printed */
    void *mark;            /* printing: the stack when the step began */
    bool failed;
    bool llvm;                 /* uses a form that only LLVM supports */
    bool in_conversion;        /* parsing a conversion operator's type */
    bool block;                /* the function of a block (clang) */
    bool strict;               /* count substitutions as in the ABI */
    bool retry;                /* GNU may have counted them differently */
    bool meaningless;          /* parsed, but cannot be printed like GNU */
    bool smashing;             /* T& within a nested encoding: see resolve */
    uint8_t invented[3];       /* types, values, templates named so far */
    uint8_t nested;            /* depth of encodings within encodings */
    struct cxx_frame *attempt; /* the rule to return to on failure */
    /* The fields before take less than 128 bytes: a node is then reached with
   * a displacement of one byte. */
    struct cxx_node nodes[];
};

/* Tables, cxx_tables.c */
enum cxx_print {
    CXX_AS_CAST, /* literals as (type)value */
    CXX_AS_INT,  /* as value and suffix */
    CXX_AS_BOOL,
    CXX_AS_FLOAT, /* as (type)[bytes] */
};

struct cxx_builtin {
    char name[19];
    uint8_t bytes; /* of the name */
    uint8_t print; /* enum cxx_print */
    char suffix[4];
};

struct cxx_op {
    char code[2];
    uint8_t shape;     /* enum cxx_shape: how operands are written */
    uint8_t loose : 7; /* LLVM's parentheses */
    uint8_t llvm : 1;  /* GNU does not know it */
    char text[17];
};

#define CXX_OPS 75u
#define CXX_NULLPTR 33u /* its index among the builtin types */

/* What operators have: operands, to be parsed (forms[]) and printed
 * (operations[]). */
enum cxx_shape {
    CXX_OP_NAME_ONLY,
    CXX_OP_NULLARY,
    CXX_OP_UNARY,
    CXX_OP_ADDRESS,
    CXX_OP_GLOBAL,
    CXX_OP_NOEXCEPT,
    CXX_OP_OF_EXPR, /* sizeof, alignof and typeid */
    CXX_OP_OF_TYPE,
    CXX_OP_SIZEOF_TYPE,
    CXX_OP_SIZEOF_PACK,
    CXX_OP_SIZEOF_ARGS,
    CXX_OP_STEP, /* ++ and --: suffix unless '_' follows */
    CXX_OP_BINARY,
    CXX_OP_ASSIGN,
    CXX_OP_GREATER,
    CXX_OP_INDEX,
    CXX_OP_CALL,
    CXX_OP_MEMBER,
    CXX_OP_CAST, /* static_cast<type>(x) */
    CXX_OP_CONDITIONAL,
    CXX_OP_NEW, /* a = placement, b = list (type, initializer) */
    CXX_OP_FOLD,
    CXX_OP_FIELD, /* .a=b */
    CXX_OP_AT,    /* [a]=b */
    CXX_OP_RANGE, /* [a ... b->a]=b->b */
    CXX_SHAPES
};

struct cxx_std {
    char code;
    char name[18]; /* as it is usually written */
    char base[15]; /* the name of its constructors */
    char full[71]; /* spelt out */
    uint8_t name_bytes, base_bytes, full_bytes;
};

#define CXX_STD_COUNT 6u

struct cxx_word {
    char text[22];
    uint8_t bytes;
};

struct cxx_special {
    char code[2];
    uint8_t shape; /* enum cxx_special_shape */
    char format[36];
};

enum cxx_special_shape {
    CXX_THEN_TYPE,
    CXX_THEN_NAME,
    CXX_THEN_ENCODING,
    CXX_THEN_CLONE,   /* t or n, encoding */
    CXX_THEN_OFFSET,  /* call offset, encoding */
    CXX_THEN_OFFSETS, /* two of them */
    CXX_THEN_TYPES,   /* construction vtable */
    CXX_THEN_ARG,
    CXX_THEN_TEMPORARY,
    CXX_THEN_MODULE,
    CXX_THEN_RESOURCE,
    CXX_SPECIAL_SHAPES
};

PROF_HIDDEN extern const struct cxx_builtin cxx_builtins[];
PROF_HIDDEN extern const struct cxx_op cxx_ops[];
PROF_HIDDEN extern const struct cxx_std cxx_std[];
PROF_HIDDEN extern const struct cxx_special cxx_specials[];
PROF_HIDDEN extern const struct cxx_word cxx_words[];

/* Specials without a two-letter code in the mangled name. */
#define CXX_S_TEMPORARY 20u
#define CXX_S_BLOCK 21u
#define CXX_S_CONSTRUCTORS 22u
#define CXX_S_DESTRUCTORS 23u

enum cxx_word_index {
    CXX_W_STD,
    CXX_W_ANONYMOUS,
    CXX_W_STRING_LITERAL,
    CXX_W_ELLIPSIS,
    CXX_W_ZERO,
    CXX_W_THIS,
};

/* Index of the row of (table) that begins with the two letters at (code);
 * (rows) if there is none. */
PROF_HIDDEN uint32_t cxx_find(const char *code, const void *table, size_t row,
                              uint32_t rows);
/* Index of the builtin type for the letter after 'D'; letters alone are
 * numbered from 'a' on. */
PROF_HIDDEN uint32_t cxx_builtin_d(char letter);

/*
 * Parses the name (x->s, x->end) into nodes. Returns the root, or 0 if it is
 * not a mangled name, does not fit, or the budget is spent.
 */
PROF_HIDDEN uint32_t cxx_parse(struct cxx *x);

/* Prints (root). False if the name is invalid after all; the contents of x->out
 * are then undefined. Spending the budget is not an error. */
PROF_HIDDEN bool cxx_print(struct cxx *x, uint32_t root);

/* The letter after "_GLOBAL_" and one of "._$" at the beginning of (bytes)
 * bytes, 0 if they are something else. N is GCC's anonymous namespace. */
PROF_HIDDEN char cxx_global(const char *s, size_t bytes);

/* Allocates a node; 0, with x->failed set, if there is no room. (kind) may
 * include flags: CXX_IS(kind, flags). */
PROF_HIDDEN uint32_t cxx_node(struct cxx *x, uint32_t kind, uint32_t a,
                              uint32_t b, uint32_t c);
#define CXX_IS(kind, flags) ((uint16_t)((kind) | (flags) << 8))

static inline struct cxx_node *cxx_at(const struct cxx *x, uint32_t node)
{
    return (struct cxx_node *)&x->nodes[node];
}

#endif
