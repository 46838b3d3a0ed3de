/* This section says what each agent promises, for the person responsible for it: the claim, everything
 * that leaves the curator or a device, how far one person can move it and why, the noise, how the
 * releases compose, and the verdict. The sentences are those of tacit/explain.h. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "report/render.h"
#include "report/write.h"

void tacit__guarantee(tacit__text *to, const tacit_entry *entry)
{
    TACIT__REQUIRE(entry != NULL);
    const tacit_guarantee *g = &entry->guarantee;
    char epsilon[TACIT__NUMBER], delta[TACIT__NUMBER];
    if (g->model == TACIT_MODEL_NONE) {
        tacit__text_put(to, "none");
        return;
    }
    tacit__text_print(to, "%s, <i>ε</i>&nbsp;=&nbsp;%s", tacit_model_name(g->model),
                      tacit__number(epsilon, g->epsilon, 4));
    if (g->delta > 0)
        tacit__text_print(to, ", <i>δ</i>&nbsp;=&nbsp;%s", tacit__number(delta, g->delta, 3));
    else
        tacit__text_put(to, ", pure");
}

static void put_badge(tacit__text *to, const tacit_explanation *p)
{
    static const char *const classes[] = {"plain", "good", "open", "bad"};
    static const char *const texts[] = {"promises nothing", "holds", "not proved", "does not hold"};
    tacit__text_print(to, "<span class=\"badge %s\">%s</span>", classes[p->verdict],
                      texts[p->verdict]);
    if (p->verdict != TACIT_VERDICT_NOTHING && p->calibration == TACIT_CALIBRATION_FIGURE)
        tacit__text_put(to, " <span class=\"badge bad\">NOT PRIVATE</span>");
}

static void put_reach(tacit__text *to, double a, double b)
{
    char number[TACIT__NUMBER];
    tacit__text_print(to, "<td>%s</td>", tacit__number(number, a, 4));
    tacit__text_print(to, "<td>%s</td>", tacit__number(number, b, 4));
}

static void put_table(tacit__text *to, const tacit_explanation *p)
{
    bool gaussian = p->law == TACIT_LAW_GAUSSIAN;
    char number[TACIT__NUMBER];
    tacit__text_print(
        to,
        "<details><summary>The release plan as a table</summary><div class=\"wide\" "
        "tabindex=\"0\" role=\"region\" aria-label=\"Release plan\"><table><thead><tr>"
        "<th scope=\"col\">release</th><th scope=\"col\">numbers</th><th scope=\"col\">steps</th>"
        "<th scope=\"col\">sensitivity L<sub>%s</sub></th><th scope=\"col\">column norm</th>"
        "<th scope=\"col\">reach</th><th scope=\"col\">%s</th><th scope=\"col\">cost %s</th>"
        "</tr></thead><tbody>\n",
        gaussian ? "2" : "1",
        gaussian                       ? "Gaussian <i>σ</i>"
        : p->law == TACIT_LAW_RESPONSE ? "1 / <i>ε</i> of an answer"
                                       : "Laplace <i>b</i>",
        gaussian ? "<i>μ</i>" : "<i>ε</i>");
    for (size_t i = 0; i < p->n_releases; i++) {
        const tacit_explained_release *line = &p->releases[i];
        const tacit_release *r = &line->release;
        tacit__text_put(to, "<tr><th scope=\"row\">");
        tacit__write_html(to, r->name);
        tacit__text_print(to, "</th><td>%s</td>", tacit__count(number, r->dimension));
        tacit__text_print(to, "<td>%s</td>", tacit__count(number, r->steps));
        put_reach(to, gaussian ? r->l2 : r->l1, gaussian ? r->column_l2 : r->column_l1);
        put_reach(to, line->reach, line->scale);
        tacit__text_print(to, "<td>%s</td></tr>\n", tacit__number(number, line->cost, 4));
    }
    tacit__text_put(to, "</tbody></table></div></details>\n");
}

static void put_releases(tacit__text *to, const tacit_explanation *p)
{
    tacit__text_put(to, "<ul class=\"releases\">\n");
    for (size_t i = 0; i < p->n_releases; i++) {
        const tacit_explained_release *line = &p->releases[i];
        tacit__text_put(to, "<li><b>");
        tacit__write_html(to, line->release.name);
        tacit__text_put(to, "</b>: ");
        tacit__write_prose(to, line->words);
        tacit__text_put(to, ".");
        if (line->release.reason[0] != '\0') {
            tacit__text_put(to, " <span class=\"reason\">Why the bound holds: ");
            tacit__write_prose(to, line->release.reason);
            tacit__text_put(to, ".</span>");
        }
        tacit__text_put(to, "</li>\n");
    }
    tacit__text_put(to, "</ul>\n");
}

static void put_promise(tacit__text *to, const tacit_explanation *p)
{
    if (p->n_releases > 0) {
        tacit__text_print(to, "<p class=\"label\">%s</p>\n",
                          p->claim.model == TACIT_MODEL_LOCAL ? "What leaves a person's device"
                                                              : "What leaves the curator");
        put_releases(to, p);
        tacit__text_put(to, "<p class=\"label\">What that costs together</p>\n<p>");
        tacit__write_prose(to, p->composition);
        tacit__text_put(to, ". <strong>So ");
        tacit__write_prose(to, p->words);
        tacit__text_put(to, ".</strong></p>\n");
        put_table(to, p);
        if (p->report[0] != '\0') {
            tacit__text_put(to, "<p class=\"label\">A report, byte by byte</p>\n<p>");
            tacit__write_prose(to, p->report);
            tacit__text_put(to, ".</p>\n");
        }
        if (p->paper[0] != '\0') {
            tacit__text_put(to, "<p class=\"reason\">The paper's noise: ");
            tacit__write_prose(to, p->paper);
            tacit__text_put(to, ".</p>\n");
        }
    } else {
        tacit__text_put(to, "<p>It ");
        tacit__write_prose(to, p->words);
        tacit__text_put(to, ".</p>\n");
    }
    if (p->remark[0] != '\0') {
        tacit__text_put(to, "<p class=\"reason\">Note: ");
        tacit__write_prose(to, p->remark);
        tacit__text_put(to, ".</p>\n");
    }
}

/* The worst verdict of an agent in any world; NULL: none is known. */
static const tacit_explanation *worst_of(const tacit__report *r, size_t i)
{
    TACIT__REQUIRE(i < r->n_agents);
    const tacit_explanation *worst = NULL;
    for (size_t w = 0; w < r->n_worlds; w++) {
        const tacit_explanation *p = r->worlds[w].outcomes[i].promise;
        if (p != NULL && (worst == NULL || p->verdict > worst->verdict))
            worst = p;
    }
    return worst;
}

static void put_everywhere(tacit__text *to, const tacit__report *r, size_t i)
{
    TACIT__REQUIRE(i < r->n_agents);
    const tacit_explanation *last = NULL;
    for (size_t w = 0; w < r->n_worlds; w++) {
        const tacit__report_outcome *o = &r->worlds[w].outcomes[i];
        if (!o->plays || (last != NULL && last->n_releases == 0))
            continue; /* no releases here, none elsewhere */
        bool titled = r->n_worlds > 1 && r->agents[i].entry->guarantee.model != TACIT_MODEL_NONE;
        if (titled) {
            tacit__text_put(to, "<h4>In ");
            tacit__write_html(to, r->worlds[w].name);
            tacit__text_put(to, "</h4>\n");
        }
        if (o->promise != NULL)
            put_promise(to, o->promise);
        else
            tacit__text_put(to, "<p>It has not begun to play, so its releases are not known "
                                "yet.</p>\n");
        last = o->promise;
    }
}

/* Writes what an alias stands for, each kind once; where that is one kind only, *kind is that. */
static void put_choices(tacit__text *to, const tacit__report *r, size_t i,
                        const tacit_agent_kind **kind)
{
    TACIT__REQUIRE(i < r->n_agents);
    const char *between = ": ";
    size_t n = 0;
    for (size_t w = 0; w < r->n_worlds; w++) {
        const tacit__report_outcome *o = &r->worlds[w].outcomes[i];
        bool said = !o->plays || strcmp(o->kind, r->agents[i].entry->kind) == 0;
        for (size_t v = 0; v < w && !said; v++)
            said = r->worlds[v].outcomes[i].plays &&
                   strcmp(o->kind, r->worlds[v].outcomes[i].kind) == 0;
        if (said)
            continue;
        tacit__text_put(to, between);
        tacit__write_html(to, o->kind);
        between = ", ";
        *kind = ++n == 1 ? tacit_agent_kind_find(o->kind) : NULL;
    }
}

static void put_agent(tacit__text *to, const tacit__report *r, size_t i)
{
    TACIT__REQUIRE(i < r->n_agents);
    const tacit__report_agent *agent = &r->agents[i];
    const tacit_agent_kind *kind = agent->kind;
    const tacit_explanation *worst = worst_of(r, i);
    tacit__text_print(to, "<article class=\"promise h%d\" id=\"agent%zu\">\n<h3>",
                      agent->style.color, i + 1);
    tacit__write_html(to, agent->entry->label);
    tacit__text_put(to, " ");
    if (worst != NULL)
        put_badge(to, worst);
    tacit__text_put(to, "</h3>\n<p class=\"claim\">");
    if (agent->entry->guarantee.model != TACIT_MODEL_NONE) {
        tacit__text_put(to, "Claims ");
        tacit__guarantee(to, agent->entry);
        tacit__text_print(to, "; calibration %s; ",
                          tacit_calibration_name(agent->entry->calibration));
    }
    tacit__write_html(to, agent->entry->kind);
    put_choices(to, r, i, &kind);
    if (kind != NULL) {
        tacit__text_put(to, ": ");
        tacit__write_html(to, kind->help);
        if (kind->source != NULL && kind->source[0] != '\0') {
            tacit__text_put(to, " (");
            tacit__write_html(to, kind->source);
            tacit__text_put(to, ")");
        }
    }
    tacit__text_put(to, ".</p>\n");
    put_everywhere(to, r, i);
    tacit__text_put(to, "</article>\n");
}

/* Each way of looking and each relation once, with the model that they belong to. */
static void put_definitions(tacit__text *to, const tacit__report *r)
{
    static const tacit_model models[] = {TACIT_MODEL_JOINT, TACIT_MODEL_LOCAL};
    tacit__text_put(to, "<dl class=\"definitions\">\n");
    for (size_t m = 0; m < 2; m++) {
        const tacit_explanation *last = NULL;
        for (size_t i = 0; i < r->n_worlds * r->n_agents; i++) {
            const tacit_explanation *p =
                r->worlds[i / r->n_agents].outcomes[i % r->n_agents].promise;
            if (p == NULL || p->claim.model != models[m] || p->n_releases == 0 ||
                (last != NULL && strcmp(last->against, p->against) == 0 &&
                 strcmp(last->neighbors, p->neighbors) == 0))
                continue;
            last = p;
            tacit__text_print(to, "<dt>%s privacy</dt><dd>protects from ",
                              models[m] == TACIT_MODEL_JOINT ? "Joint" : "Local");
            tacit__write_prose(to, p->against);
            tacit__text_put(to, ". What is indistinguishable, up to <i>ε</i> and <i>δ</i>: ");
            tacit__write_prose(to, p->neighbors);
            tacit__text_put(to, ".</dd>\n");
        }
    }
    tacit__text_put(
        to, "<dt><i>ε</i> and <i>δ</i></dt><dd>replacing one person's data changes the "
            "probability of any observation by a factor of at most e<sup><i>ε</i></sup>, up to "
            "<i>δ</i>. Smaller is safer; 0.1 is strong, 10 is weak.</dd>\n</dl>\n");
}

void tacit__promises(tacit__text *to, const tacit__report *r)
{
    tacit__text_put(to, "<section id=\"promises\">\n<h2>What is promised</h2>\n");
    put_definitions(to, r);
    for (size_t i = 0; i < r->n_agents; i++)
        put_agent(to, r, i);
    tacit__text_put(to, "<h3>What no promise here covers</h3>\n<ul>\n");
    for (size_t i = 0; tacit_explanation_exception(i) != NULL; i++) {
        tacit__text_put(to, "<li>");
        tacit__write_prose(to, tacit_explanation_exception(i));
        tacit__text_put(to, "</li>\n");
    }
    tacit__text_put(to, "</ul>\n</section>\n");
}
