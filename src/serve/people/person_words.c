/* What one person pays, in words. See serve/people/person.h. No learner is named: a token that is for one
 * learner may read this, too. */
#include "serve/people/person.h"
#include "text/json_text.h"

enum { DIGITS = 4 };

static void put_cost(tacit__text *out, const tacit_guarantee *g)
{
    char epsilon[32], delta[32];
    tacit__text_print(out, "epsilon %s, delta %s", tacit__round_up(epsilon, DIGITS, g->epsilon),
                      tacit__round_up(delta, DIGITS, g->delta));
}

static void put_headline(tacit__text *out, const tacit_service_person *p, const char *unknown)
{
    const size_t all = p->joint + p->local + p->exact;
    tacit__text_put(out, "for one person: ");
    if (unknown != NULL)
        tacit__text_print(out, "no guarantee, because %s", unknown);
    else if (p->exact == all)
        tacit__text_put(out, "no guarantee, because everything works on exact data (model none)");
    else if (p->exact > 0)
        tacit__text_print(out,
                          "no guarantee, because %zu of %zu learners work%s on exact data "
                          "(model none)",
                          p->exact, all, p->exact == 1 ? "s" : "");
    else
        put_cost(out, &p->all);
    if (p->separate && p->exact == 0 && all > 1 && unknown == NULL)
        tacit__text_put(out, ", if no person is in two learners");
}

static void put_scope(tacit__text *out, const tacit_service_person *p, bool others)
{
    const size_t private = p->joint + p->local;
    if (others) {
        tacit__text_put(out, "\nWho takes part only in what has a guarantee pays ");
        put_cost(out, &p->all);
        tacit__text_put(out, ".");
    }
    if (p->separate && private > 1)
        tacit__text_put(out, "\nThis is the most that any one learner costs, with its mean reward. "
                             "It rests on the operator's declaration that no person is in two "
                             "learners (people: separate), which the service cannot check.");
    else
        tacit__text_print(out,
                          "\nA person is one human visitor, who may take part in %s and in every "
                          "mean reward that is released; this is what all of it costs together.",
                          private > 1 ? "all learners" : "the learner");
    tacit__text_put(out, " In each learner the person is one user, or as many visits as it "
                         "declares.");
}

static void put_observers(tacit__text *out, const tacit_service_person *p)
{
    if (p->joint == 0) {
        tacit__text_put(out, "\nIt holds toward everybody, the service included, which never sees "
                             "raw data.");
        return;
    }
    tacit__text_put(out, "\nIt holds toward everybody together, except the person and the service, "
                         "which sees raw data");
    if (p->local > 0) {
        tacit__text_print(out, " in %zu of the learners. What devices send to the other%s costs ",
                          p->joint + p->exact, p->local > 1 ? "s" : "");
        put_cost(out, &p->devices);
        tacit__text_put(out, " toward the service as well");
    }
    tacit__text_put(out, ".");
}

void tacit__person_words(const tacit_service_person *p, const char *unknown, tacit__text *out)
{
    put_headline(out, p, unknown);
    if (p->joint + p->local > 0) {
        put_scope(out, p, p->exact > 0 || unknown != NULL);
        put_observers(out, p);
    }
    if (p->budget.model != TACIT_MODEL_NONE) {
        char epsilon[32], delta[32];
        tacit__text_print(out,
                          "\nThe operator's budget for one person is epsilon %s, delta %s: the "
                          "service does not start with learners that cost more.",
                          tacit__round_up(epsilon, DIGITS, p->budget.epsilon),
                          tacit__round_up(delta, DIGITS, p->budget.delta));
    }
}
