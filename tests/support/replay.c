#include "support/replay.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static void require(bool there, const char *otherwise)
{
    if (!there) {
        fprintf(stderr, "replay: %s\n", otherwise);
        abort();
    }
}

tape *tape_create(void)
{
    tape *t = NULL;
    require(tacit__tape_create(&t) == TACIT_OK, "out of memory");
    return t;
}

void tape_destroy(tape *t)
{
    tacit__tape_destroy(t);
}

void tape_record(tape *t, tacit_ledger *ledger)
{
    tacit__tape_record(t, ledger);
}

void tape_replay(tape *t, tacit_ledger *ledger)
{
    tacit__tape_replay(t, ledger);
}

size_t tape_length(const tape *t)
{
    return tacit__tape_length(t);
}

tape_verdict tape_compare(const tape *t)
{
    tacit__verdict v = tacit__tape_verdict(t);
    require(!v.no_memory, "out of memory");
    return (tape_verdict){
        .same_calls = v.same_calls, .mu_square = v.mu_square, .epsilon = v.epsilon};
}

static void add_line(void *context, const tacit__entry *e, const tacit__passage *p)
{
    tape_lines *lines = context;
    const size_t line = tacit_plan_index(lines->plan, p->release->name);
    for (size_t i = 0; i < p->n; i++) {
        double move = (double)tacit__tape_move(p->law, p->exact[i], e->exact[i]) / p->scale;
        lines->measured[line] += p->law == TACIT_LAW_GAUSSIAN ? move * move : move;
    }
}

tape_lines tape_lines_of(const tacit_plan *plan)
{
    tape_lines lines = {.plan = plan, .n = tacit_plan_size(plan)};
    require(lines.n <= TAPE_LINES, "a plan with more lines than are watched");
    for (size_t i = 0; i < lines.n; i++) {
        const tacit_release *r = tacit_plan_release(plan, i);
        const double scale = tacit_plan_scale(plan, i);
        lines.declared[i] = tacit_plan_law(plan) == TACIT_LAW_GAUSSIAN
                                ? pow(r->l2 * r->column_l2 / scale, 2)
                                : r->l1 * r->column_l1 / scale;
    }
    return lines;
}

void tape_watch(tape *t, tape_lines *lines)
{
    tacit__tape_on_replay(t, add_line, lines);
}
