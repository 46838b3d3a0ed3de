/* See audit/charges.h. Counts are compared at every passage and once at the end; the first difference is
 * kept. */
#include "audit/charges.h"

#include <stdio.h>

#include "base/error.h"
#include "base/workspace.h"

static size_t index_of(const tacit__charges *c, const tacit_release *release)
{
    const tacit_plan *plan = tacit_ledger_plan(c->ledger);
    size_t i = 0;
    while (i < c->n && tacit_plan_release(plan, i) != release)
        i++;
    return i;
}

static void add_fault(tacit__charges *c, const tacit_release *release, uint64_t step,
                      const char *what)
{
    if (c->fault[0] == '\0')
        (void)snprintf(c->fault, sizeof c->fault, "release '%.60s', step %llu: %s", release->name,
                       (unsigned long long)step + 1, what);
}

static tacit_status charge(void *context, const tacit_release *release, uint64_t step)
{
    tacit__charges *c = context;
    size_t i = index_of(c, release);
    (void)step;
    if (i < c->n)
        c->charged[i]++;
    return TACIT_OK;
}

tacit_status tacit__charges_open(tacit__charges *c, tacit_ledger *ledger)
{
    TACIT__REQUIRE(ledger != NULL);
    *c = (tacit__charges){.ledger = ledger, .n = tacit_plan_size(tacit_ledger_plan(ledger))};
    if (TACIT__PIECES(TACIT__PIECE(c->passed, c->n), TACIT__PIECE(c->charged, c->n)) == NULL)
        return TACIT_NO_MEMORY;
    tacit_ledger_set_journal(ledger, charge, c);
    return TACIT_OK;
}

void tacit__charges_close(tacit__charges *c)
{
    tacit__workspace_destroy(c->passed);
    *c = (tacit__charges){0};
}

void tacit__charges_add(tacit__charges *c, const tacit__passage *p)
{
    size_t i = index_of(c, p->release);
    if (i == c->n || p->offset > 0)
        return;
    if (p->step != c->passed[i])
        add_fault(c, p->release, p->step, "passes the door more than once, and is charged once");
    c->passed[i]++;
    if (c->charged[i] < c->passed[i])
        add_fault(c, p->release, p->step, "passes the door before it is charged");
}

void tacit__charges_check(tacit__charges *c)
{
    const tacit_plan *plan = tacit_ledger_plan(c->ledger);
    for (size_t i = 0; i < c->n; i++)
        if (tacit_ledger_passed(c->ledger, i) < c->passed[i])
            add_fault(c, tacit_plan_release(plan, i), tacit_ledger_passed(c->ledger, i),
                      "passed the door, and the ledger does not know of it");
}
