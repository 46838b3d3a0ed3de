/* This file puts what a learner for mixtures plays beside what its paper prints [LGLP21, Cor. 5, 6, 10,
 * 11; Z22, Lemma 3.1, Thm. 6.4]: the constants of the last plan. Units are those of the planner:
 * features and targets are at most 1, so the papers' radius is H times the one here, and their ridge,
 * shift and noise are H^2 times those here (squares: H^2 and H^4; weighted steps: in units of d as
 * well). */
#include <math.h>
#include <stdio.h>

#include "agents/mixture/mixture_agents.h"
#include "base/error.h"

/* The paper's own constants, for a request that it has constants for. */
typedef struct paper_constants {
    tacit__printed_noise noise[TACIT__REGRESSIONS];
    tacit__confidence confidence[TACIT__REGRESSIONS];
} paper_constants;

static paper_constants print(const mixture_agent *agent, const tacit__reading *r)
{
    const tacit_agent_request *q = r->request;
    paper_constants out = {0};
    tacit__gram_sums last[TACIT__REGRESSIONS] = {{.users = q->episodes}, {.users = q->episodes}};
    tacit__radius_options o = agent->radius;
    o.printed = true;
    o.bonus_scale = o.shift_scale = 1;
    o.lambda = 0;
    const tacit__printed_case c = tacit__mixture_printed_case(agent, r);
    agent->parts->print(&c, out.noise);
    for (size_t i = 0; i < TACIT__REGRESSIONS; i++) {
        o.level[i] = (tacit__printed_level){out.noise[i].gram_level, out.noise[i].response_level};
        o.centered[i] = false;
    }
    agent->parts->confidence(&o, last, out.confidence);
    return out;
}

static void say_scaled(tacit__plays *plays, const char *name, double printed, double played,
                       const char *setting, double scale)
{
    if (scale != 1)
        tacit__plays_number(plays, name, printed, played, "%s %g", setting, scale);
    else
        tacit__plays_number(plays, name, printed, played, "%s", "");
}

static void say_number(mixture_agent *agent, const char *what, size_t stream, double printed,
                       double played, const char *setting, double scale)
{
    char name[TACIT__PLAYS_WORDS];
    (void)snprintf(name, sizeof name, "%s, %s", what, agent->parts->streams[stream]);
    say_scaled(&agent->base.plays, name, printed, played, setting, scale);
}

static void say_stream(mixture_agent *agent, size_t i, const paper_constants *paper,
                       const tacit__confidence *played, bool private)
{
    const double none = (double)NAN;
    const tacit__radius_options *o = &agent->radius;
    const tacit__curator *curator = agent->base.curator;
    if (private) {
        const tacit_plan *plan = tacit_ledger_plan(tacit__curator_ledger(curator));
        const double scale =
            tacit_plan_scale(plan, tacit_plan_index(plan, agent->parts->streams[i]));
        say_number(agent, "noise of Gram sums", i, paper != NULL ? paper->noise[i].gram : none,
                   scale, NULL, 1);
        say_number(agent, "noise of responses", i, paper != NULL ? paper->noise[i].response : none,
                   scale / tacit__gram_form_of(tacit__curator_form(curator), i)->ratio, NULL, 1);
    }
    say_number(agent, "ridge and shift", i, paper != NULL ? paper->confidence[i].add : none,
               played[i].add, "shift_scale", private ? o->shift_scale : 1);
    say_number(agent, "radius", i, paper != NULL ? paper->confidence[i].radius : none,
               played[i].radius, "bonus_scale", o->bonus_scale);
    if (agent->parts->form == TACIT__VARIANCE && i == TACIT__TRANSITIONS)
        say_number(agent, "radius for variances", i,
                   paper != NULL ? paper->confidence[i].crude : none, played[i].crude,
                   "bonus_scale", o->bonus_scale);
}

static void say_schedule(mixture_agent *agent, const tacit__reading *r, double growth)
{
    char played[TACIT__PLAYS_WORDS] = "every user";
    tacit__plays *plays = &agent->base.plays;
    if (growth > 0)
        (void)snprintf(played, sizeof played, "growth(%g)", growth);
    tacit__plays_words(plays, "releases", "every user", played, "%s", "");
    tacit__plays_words(plays, "plans", "every user",
                       agent->interval == 1 ? "every user"
                                            : tacit__value_of(&r->values, "replan")->text,
                       "%s", "");
}

void tacit__mixture_fill_plays(mixture_agent *agent, const tacit__reading *r, const signs *sign,
                               double growth)
{
    const tacit_agent_request *q = r->request;
    const mixture_parts *parts = agent->parts;
    const bool private = q->guarantee.model != TACIT_MODEL_NONE,
               known = private && q->guarantee.delta > 0 && q->guarantee.epsilon > 0;
    const tacit__curator *curator = agent->base.curator;
    tacit__plays *plays = &agent->base.plays;
    tacit__gram_sums last[TACIT__REGRESSIONS] = {0};
    tacit__confidence played[TACIT__REGRESSIONS] = {0};
    for (size_t i = 0; i < tacit__optimist_streams(agent->planner); i++)
        last[i] =
            tacit__gram_last(tacit__curator_form(curator), i, tacit__curator_stream(curator, i));
    parts->confidence(&agent->radius, last, played);
    const paper_constants paper = known ? print(agent, r) : (paper_constants){0};
    tacit__plays_words(plays, "unit of values", "H",
                       tacit__mixture_is_printed(r) ? "H"
                       : sign->centered             ? "(H - h) / 2, centered"
                                                    : "H - h",
                       "%s", "");
    for (size_t i = 0; i < tacit__optimist_streams(agent->planner); i++)
        say_stream(agent, i, known ? &paper : NULL, played, private);
    if (parts->soft != NULL) {
        const double step = parts->soft->step_size(q->n_actions, q->horizon, q->episodes);
        const double scale = tacit__mixture_scale(r, "step_scale");
        say_scaled(plays, "step of the policy", step, step * scale, "step_scale", scale);
    }
    static const char *const clips[] = {[TACIT__CLIP_PARTS] = "r to 1, P V to H - h",
                                        [TACIT__CLIP_SUM] = "Q to H - h + 1",
                                        [TACIT__CLIP_HORIZON] = "Q to H"};
    tacit__plays_words(plays, "clip", clips[parts->clip],
                       clips[tacit__is_published(q) ? parts->clip : TACIT__CLIP_PARTS], "%s",
                       parts->clip == TACIT__CLIP_HORIZON
                           ? "and at 0 from below, which is not printed and bounds what a user adds"
                           : "");
    say_schedule(agent, r, growth);
}
