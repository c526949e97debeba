/* SPDX-License-Identifier: Apache-2.0 */
/* Samples by address and by function. */

#include "annotate/annotate.h"
#include "base/memory.h"

#include <stdlib.h>

double annotate_percent(const struct annotate *annotate,
                        const struct model_count *count,
                        const struct model_count *whole)
{
    uint64_t all = view_weight(annotate->view, whole);

    return all > 0 ? 100.0 * (double)view_weight(annotate->view, count) /
                         (double)all
                   : 0;
}

const char *annotate_name(const struct annotate *annotate, uint32_t number)
{
    return names_text(&annotate->view->names, number);
}

/* Where (symbol) ends, or the next one begins within it. */
static uint64_t end_of(const struct image *image,
                       const struct image_symbol *symbol)
{
    const struct image_symbol *next = symbol + 1;

    if (next < image->functions + image->count && next->start < symbol->end)
        return next->start;
    return symbol->end;
}

static struct annotate_function *function_of(struct annotate *annotate,
                                             const struct image_symbol *symbol)
{
    struct names *names = &annotate->view->names;
    bool is_new;
    uint32_t number =
        index_add(&annotate->function_keys, symbol->start, &is_new);

    if (is_new) {
        vector_reserve_one(&annotate->functions, number,
                           sizeof *annotate->functions);
        annotate->functions[number] = (struct annotate_function){
            .symbol = symbol,
            .end = end_of(&annotate->view->image, symbol),
            .name = names_put(names, names->readable(symbol->name)),
        };
    }
    return &annotate->functions[number];
}

static void put_hit(struct annotate *annotate, uint64_t address,
                    const struct model_count *count)
{
    bool is_new;
    uint32_t number = index_add(&annotate->hit_keys, address, &is_new);

    if (is_new) {
        vector_reserve_one(&annotate->hits, number, sizeof *annotate->hits);
        annotate->hits[number] = (struct annotate_hit){.address = address};
    }
    model_count_add(&annotate->hits[number].self, count);
}

/* Samples without an address, or outside all functions, count in the sum
 * only. */
static void count_cell(struct annotate *annotate, const struct model_cell *cell)
{
    struct view *view = annotate->view;
    const struct image_symbol *symbol;
    uint64_t address;
    uint32_t node;

    model_count_add(&annotate->sum, &cell->count);
    if (model_stack(&view->model, cell->node, &node, 1) == 0 ||
        node < MODEL_PSEUDOS)
        return;
    address = view->model.nodes[node].address;
    symbol = image_function(&view->image, address);
    if (symbol == NULL)
        return;
    model_count_add(&function_of(annotate, symbol)->self, &cell->count);
    put_hit(annotate, address, &cell->count);
}

static int by_address(const void *left, const void *right)
{
    const struct annotate_hit *a = left, *b = right;

    return (a->address > b->address) - (a->address < b->address);
}

static enum model_weight order_weight; /* of by_weight() */

static int by_weight(const void *left, const void *right)
{
    const struct annotate_function *a = left, *b = right;
    uint64_t a_weight = a->self.weights[order_weight];
    uint64_t b_weight = b->self.weights[order_weight];

    if (a_weight != b_weight)
        return a_weight < b_weight ? 1 : -1;
    return (a->symbol > b->symbol) - (a->symbol < b->symbol);
}

void annotate_count(struct annotate *annotate)
{
    struct view_stack stack = {0};

    while (view_next(annotate->view, &stack))
        count_cell(annotate, stack.cell);
    order_weight = annotate->view->weight;
    if (annotate->hit_keys.count > 0) {
        qsort(annotate->hits, annotate->hit_keys.count, sizeof *annotate->hits,
              by_address);
        qsort(annotate->functions, annotate->function_keys.count,
              sizeof *annotate->functions, by_weight);
    }
}

static void free_function(struct annotate_function *function)
{
    for (size_t i = 0; i < function->code_count; ++i)
        free(function->code[i].text);
    free(function->code);
    free(function->lines);
}

void annotate_close(struct annotate *annotate)
{
    for (uint32_t i = 0; i < annotate->function_keys.count; ++i)
        free_function(&annotate->functions[i]);
    free(annotate->functions);
    free(annotate->hits);
    free(annotate->wanted);
    index_free(&annotate->hit_keys);
    index_free(&annotate->function_keys);
    listing_close(&annotate->listing);
}
