/* The story of a report in a few computed sentences: what learning costs without privacy, what each model
 * of privacy costs at each epsilon, and which claims are not true.
 *
 * Where rewards begin at 0, regret is given as a share of what the best policy earns, which needs no
 * units. For each model and epsilon the sentence quotes the best agent whose guarantee holds. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "report/figure.h"
#include "report/render.h"
#include "report/write.h"

enum { MOST = 5, FALSE_CLAIMS = 2, NOT_LEARNED = 4 }; /* that are listed, of each */

static void put_loss(tacit__text *to, const tacit__report *r, const tacit__report_world *s,
                     double regret)
{
    char number[TACIT__NUMBER];
    if (s->has_share)
        tacit__text_put(to,
                        tacit__percent(number, regret / (s->optimal_value * (double)r->episodes)));
    else
        tacit__text_put(to, tacit__number(number, regret, 3));
}

/* The agent without privacy that does best, and random actions; SIZE_MAX: none. */
static size_t find_plain(const tacit__report *r, const tacit__report_world *s, bool *several)
{
    size_t best = SIZE_MAX;
    *several = false;
    for (size_t i = 0; i < r->n_agents; i++) {
        const tacit_entry *e = r->agents[i].entry;
        if (e->baseline || e->guarantee.model != TACIT_MODEL_NONE || s->outcomes[i].n_runs == 0)
            continue;
        *several = best != SIZE_MAX;
        if (best == SIZE_MAX || s->outcomes[i].regret < s->outcomes[best].regret)
            best = i;
    }
    return best;
}

static size_t find_random(const tacit__report *r, const tacit__report_world *s)
{
    for (size_t i = 0; i < r->n_agents; i++)
        if (r->agents[i].entry->baseline && strcmp(r->agents[i].entry->kind, "uniform") == 0 &&
            s->outcomes[i].n_runs > 0)
            return i;
    return SIZE_MAX;
}

/* The best agent of this model with the largest epsilon below `bound` whose promise holds; SIZE_MAX:
 * none. */
static size_t find_next(const tacit__report *r, const tacit__report_world *s, tacit_model model,
                        double bound)
{
    size_t best = SIZE_MAX;
    for (size_t i = 0; i < r->n_agents; i++) {
        const tacit_guarantee *g = &r->agents[i].entry->guarantee;
        const tacit__report_outcome *o = &s->outcomes[i];
        if (g->model != model || !(g->epsilon < bound) || o->n_runs == 0 ||
            (o->promise != NULL && o->promise->verdict != TACIT_VERDICT_HOLDS))
            continue;
        double most = best == SIZE_MAX ? -1 : r->agents[best].entry->guarantee.epsilon;
        if (g->epsilon > most || (g->epsilon == most && o->regret < s->outcomes[best].regret))
            best = i;
    }
    return best;
}

static bool put_model(tacit__text *to, const tacit__report *r, const tacit__report_world *s,
                      tacit_model model, const char *opening)
{
    size_t shown[MOST], n = 0, all = 0;
    for (double bound = HUGE_VAL;;) {
        size_t i = find_next(r, s, model, bound);
        if (i == SIZE_MAX)
            break;
        shown[n < MOST ? n : MOST - 1] = i; /* the smallest epsilon is always shown */
        n += n < MOST;
        all++;
        bound = r->agents[i].entry->guarantee.epsilon;
    }
    if (all == 0)
        return false;
    tacit__text_put(to, opening);
    for (size_t k = 0; k < n; k++) {
        char number[TACIT__NUMBER];
        tacit__text_put(to, k == 0 ? "" : k + 1 < n ? ", " : " and ");
        put_loss(to, r, s, s->outcomes[shown[k]].regret);
        tacit__text_print(to, " at <i>ε</i>&nbsp;=&nbsp;%s",
                          tacit__number(number, r->agents[shown[k]].entry->guarantee.epsilon, 4));
    }
    return true;
}

static void put_false_claims(tacit__text *to, const tacit__report *r, const tacit__report_world *s)
{
    size_t n = 0;
    for (size_t i = 0; i < r->n_agents; i++) {
        const tacit_explanation *p = s->outcomes[i].promise;
        char claim[TACIT__NUMBER], real[TACIT__NUMBER];
        if (p == NULL || p->verdict != TACIT_VERDICT_FAILS)
            continue;
        if (n++ >= FALSE_CLAIMS)
            continue;
        tacit__text_put(to, " <b>");
        tacit__write_html(to, r->agents[i].entry->label);
        tacit__text_print(to, "</b> claims <i>ε</i>&nbsp;=&nbsp;%s, but its noise really gives ",
                          tacit__number(claim, p->claim.epsilon, 4));
        if (isfinite(p->real.epsilon.high))
            tacit__text_print(to, "<i>ε</i>&nbsp;=&nbsp;%s.",
                              tacit__number(real, p->real.epsilon.high, 3));
        else
            tacit__text_put(to, "no finite <i>ε</i>.");
    }
    if (n > FALSE_CLAIMS)
        tacit__text_print(to, " %zu more claims do not hold.", n - FALSE_CLAIMS);
}

/* Says by which rule a run did not learn. */
static void put_rule(tacit__text *to, const tacit__report_world *s)
{
    char number[TACIT__NUMBER];
    if (s->logged)
        tacit__text_print(to, "the estimated reward of a run is below %s", s->bar.what);
    else
        tacit__text_print(to, "the late regret of a run is not below %s, nine tenths of %s",
                          tacit__number(number, 0.9 * s->bar.late, 3), s->bar.what);
}

/* Which learners did not learn, and in how many of their runs. */
static void put_flags(tacit__text *to, const tacit__report *r, const tacit__report_world *s)
{
    size_t n = 0, said = 0;
    uint64_t lost = 0, runs = 0;
    for (size_t i = 0; i < r->n_agents; i++) {
        n += s->outcomes[i].n_not_learned > 0;
        lost += s->outcomes[i].n_not_learned;
        runs += r->agents[i].entry->baseline ? 0 : s->outcomes[i].n_runs;
    }
    if (n == 0)
        return;
    if (lost == runs) {
        tacit__text_put(to, " <b>No agent learned</b>: in all runs, ");
        put_rule(to, s);
        tacit__text_put(to, ".");
        return;
    }
    tacit__text_print(to, " <b>%llu of %llu runs did not learn</b> (", (unsigned long long)lost,
                      (unsigned long long)runs);
    put_rule(to, s);
    tacit__text_put(to, "): ");
    for (size_t i = 0; i < r->n_agents && said < NOT_LEARNED; i++)
        if (s->outcomes[i].n_not_learned > 0) {
            tacit__text_put(to, said == 0 ? "" : said + 1 < n ? ", " : " and ");
            tacit__text_print(to, "%llu of ", (unsigned long long)s->outcomes[i].n_not_learned);
            tacit__write_html(to, r->agents[i].entry->label);
            said++;
        }
    if (n > said)
        tacit__text_print(to, " and those of %zu more", n - said);
    tacit__text_put(to, ".");
}

void tacit__row_head(tacit__text *to, const tacit__report *r, const tacit__report_world *s,
                     size_t agent)
{
    TACIT__REQUIRE(agent < r->n_agents);
    const tacit__report_outcome *o = &s->outcomes[agent];
    tacit__text_put(to, "<tr><th scope=\"row\"><span");
    tacit__swatch(to, r->agents[agent].style);
    tacit__text_print(to, "></span><a href=\"#agent%zu\">", agent + 1);
    tacit__write_html(to, r->agents[agent].entry->label);
    tacit__text_put(to, "</a>");
    if (o->n_not_learned > 0) {
        tacit__text_put(to, " <b class=\"bad\" title=\"A run did not learn if ");
        put_rule(to, s);
        tacit__text_put(to, ".\">");
        if (o->n_runs > 1)
            tacit__text_print(to, "%llu of %llu runs ", (unsigned long long)o->n_not_learned,
                              (unsigned long long)o->n_runs);
        tacit__text_put(to, "did not learn</b>");
    }
    tacit__text_put(to, "</th>");
}

void tacit__story(tacit__text *to, const tacit__report *r, size_t world)
{
    TACIT__REQUIRE(world < r->n_worlds);
    const tacit__report_world *s = &r->worlds[world];
    if (s->logged) {
        tacit__rewards_story(to, r, world);
        put_flags(to, r, s);
        put_false_claims(to, r, s);
        return;
    }
    bool several;
    size_t plain = find_plain(r, s, &several), random = find_random(r, s);
    char users[TACIT__NUMBER];
    const char *verb = s->has_share ? "gives up" : "has a regret of";
    const char *object = s->has_share ? " of what the best policy earns" : "";
    if (r->n_done == 0) {
        tacit__text_put(to, "No run was finished.");
        return;
    }
    tacit__text_print(to, "Over %s users, ", tacit__count(users, r->episodes));
    if (plain != SIZE_MAX) {
        tacit__text_put(to, "learning without privacy");
        if (several) {
            tacit__text_put(to, " (at best, ");
            tacit__write_html(to, r->agents[plain].entry->label);
            tacit__text_put(to, ")");
        }
        tacit__text_print(to, " %s ", verb);
        put_loss(to, r, s, s->outcomes[plain].regret);
        tacit__text_print(to, "%s. ", object);
    }
    bool first = plain == SIZE_MAX;
    bool joint = put_model(to, r, s, TACIT_MODEL_JOINT,
                           first ? "joint privacy, with a trusted curator, costs "
                                 : "Joint privacy, with a trusted curator, makes that ");
    bool local = put_model(to, r, s, TACIT_MODEL_LOCAL,
                           joint   ? "; local privacy, which needs no trusted party, "
                           : first ? "local privacy, which needs no trusted party, costs "
                                   : "Local privacy, which needs no trusted party, makes that ");
    if (joint || local) {
        if (first)
            tacit__text_put(to, object);
        tacit__text_put(to, ".");
    }
    if (random != SIZE_MAX) {
        tacit__text_print(to, first && !joint && !local ? "random actions have a regret of "
                              : s->has_share            ? " Random actions would give up "
                                                        : " Random actions have a regret of ");
        put_loss(to, r, s, s->outcomes[random].regret);
        tacit__text_put(to, ".");
    } else if (first && !joint && !local) {
        tacit__text_put(to, "nobody learned.");
    }
    put_flags(to, r, s);
    put_false_claims(to, r, s);
}
