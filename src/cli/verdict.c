#include "cli/verdict.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include <tacit/explain.h>

#include "cli/cli.h"
#include "cli/print_json.h"
#include "cli/words.h"

/* --- Text ---------------------------------------------------------------------------------------- */

static const char *loss_name(const tacit_audit *a)
{
    return a->law == TACIT_LAW_GAUSSIAN ? "mu" : "epsilon";
}

static void print_replay(const tacit_audit *a)
{
    char text[640];
    (void)snprintf(text, sizeof text,
                   "%llu neighbours (%llu refused by the curator); the worst, user %llu replaced, "
                   "moves the releases by %s %.4g, and the plan declares %.4g; %s%s%s%s",
                   (unsigned long long)a->neighbours, (unsigned long long)a->refused,
                   (unsigned long long)a->position, loss_name(a), a->moved, a->declared,
                   a->same_calls ? "the same calls" : "NOT the same calls",
                   a->same_view ? ", the same view" : ", NOT the same view",
                   a->same_taken ? "" : ", NOT the same users taken",
                   a->declared_only ? "" : ", NOT as declared");
    cli_print_wrapped("  replay      ", text);
    int used =
        snprintf(text, sizeof text, "%.3f of the declared %s was reached", a->share, loss_name(a));
    if (a->share_elsewhere > 0)
        (void)snprintf(text + used, sizeof text - (size_t)used,
                       ", and %.3f with public knowledge of the auditor's own", a->share_elsewhere);
    cli_print_wrapped("  search      ", text);
}

static void print_noise(const tacit_audit *a)
{
    char text[320];
    if (a->draws > 0)
        (void)snprintf(text, sizeof text, "%.3g draws examined, %.5g times the declared size; %s",
                       a->draws, a->noise_size,
                       a->noise_fault[0] != '\0' ? a->noise_fault
                                                 : "nothing repeated, nothing left out");
    else
        (void)snprintf(text, sizeof text, "none was drawn");
    cli_print_wrapped("  noise       ", text);
}

static void print_proof(const char *head, const tacit_audit_proof *p)
{
    char text[320], mu[48] = "";
    if (!isnan(p->mu))
        (void)snprintf(mu, sizeof mu, "mu %.4g, ", p->mu);
    (void)snprintf(text, sizeof text,
                   "%s%sepsilon %.4g (%s %s %.4g: %llu of %llu runs in one world, %llu in the "
                   "other)",
                   head, mu, p->epsilon, p->score, p->below ? "below" : "above", p->threshold,
                   (unsigned long long)p->hits, (unsigned long long)p->n,
                   (unsigned long long)p->alarms);
    cli_print_wrapped("              ", text);
}

static void print_attack(const tacit_audit *a)
{
    char text[320];
    (void)snprintf(text, sizeof text,
                   "%llu %s in each world, %llu of them to choose the event; confidence %.6g %%",
                   (unsigned long long)a->trials,
                   a->claim.model == TACIT_MODEL_LOCAL ? "reports" : "runs",
                   (unsigned long long)a->selection, 100 * a->confidence);
    cli_print_wrapped("  attack      ", text);
    print_proof("as (epsilon, delta): ", &a->pure);
    if (a->gaussian.n > 0)
        print_proof("as Gaussian DP: ", &a->gaussian);
    if (isinf(a->detectable))
        (void)snprintf(
            text, sizeof text,
            "so few trials would by themselves not find noise 16 times too small; the most "
            "that they can prove is epsilon %.3g",
            fmax(a->ceiling, 0));
    else
        (void)snprintf(text, sizeof text,
                       "the trials would by themselves find noise %.3g times too small with 90 %% "
                       "probability; the most that so many can prove is epsilon %.3g",
                       a->detectable, fmax(a->ceiling, 0));
    cli_print_wrapped("  power       ", text);
}

void cli_audit_print(const tacit_entry *entry, const tacit_audit *a)
{
    const tacit_guarantee *g = &a->claim;
    char head[64];
    (void)printf("%s (%s)\n", entry->label, entry->kind);
    (void)printf(
        "  claims      %s differential privacy, epsilon %g, delta %.4g%s; calibration %s\n",
        tacit_model_name(g->model), g->epsilon, g->delta, g->delta > 0 ? "" : " (pure)",
        tacit_calibration_name(entry->calibration));
    print_replay(a);
    if (a->trials > 0) {
        print_noise(a);
        print_attack(a);
    }
    (void)snprintf(head, sizeof head, "  verdict     %s: ", tacit_audit_verdict_name(a->verdict));
    cli_print_wrapped(head, a->words);
    (void)fputc('\n', stdout);
}

void cli_self_test_print(const tacit_self_test *test)
{
    for (size_t i = 0; i < test->n; i++) {
        const tacit_control *c = &test->controls[i];
        char text[400];
        if (c->broken)
            (void)snprintf(text, sizeof text, "%s: %s", c->what,
                           c->right ? "caught by " : "NOT CAUGHT");
        else
            (void)snprintf(text, sizeof text, "%s: convicted in %llu of %llu audits, allowed %llu",
                           c->what, (unsigned long long)c->convicted, (unsigned long long)c->audits,
                           (unsigned long long)c->allowed);
        (void)printf("%s  %-25s %s%s\n", c->right ? "right" : "WRONG", c->name, text,
                     c->broken && c->right ? c->caught_by : "");
    }
    (void)printf(
        "\n%s: broken mechanisms must be caught, sound ones convicted in at most %.3g %% of "
        "audits\n",
        test->right ? "right" : "WRONG", 100 * (1 - test->confidence));
}

/* --- JSON ---------------------------------------------------------------------------------------- */

static json_t *proof_json(const tacit_audit_proof *p)
{
    if (p->n == 0)
        return json_null();
    return json_pack("{s:s, s:s, s:o, s:I, s:I, s:I, s:o, s:o}", "score", p->score, "side",
                     p->below ? "below" : "above", "threshold", cli_json_number(p->threshold),
                     "hits", (json_int_t)p->hits, "alarms", (json_int_t)p->alarms, "runs",
                     (json_int_t)p->n, "epsilon", cli_json_number(p->epsilon), "mu",
                     cli_json_number(p->mu));
}

static json_t *replay_json(const tacit_audit *a)
{
    return json_pack("{s:I, s:I, s:I, s:b, s:b, s:b, s:b, s:s, s:o, s:o, s:o, s:o, s:o, s:s}",
                     "neighbours", (json_int_t)a->neighbours, "refused", (json_int_t)a->refused,
                     "position", (json_int_t)a->position, "same_calls", a->same_calls, "same_view",
                     a->same_view, "same_taken", a->same_taken, "declared_only", a->declared_only,
                     "loss", loss_name(a), "moved", cli_json_number(a->moved), "declared",
                     cli_json_number(a->declared), "share", cli_json_number(a->share),
                     "share_elsewhere", cli_json_number(a->share_elsewhere), "epsilon",
                     cli_json_number(a->replay_epsilon), "fault", a->fault);
}

json_t *cli_audit_json(const char *world, const tacit_entry *entry, const tacit_audit *a)
{
    json_t *noise = json_pack("{s:o, s:o, s:s}", "draws", cli_json_number(a->draws), "size",
                              cli_json_number(a->noise_size), "fault", a->noise_fault);
    return json_pack("{s:s, s:s, s:s, s:o, s:s, s:s, s:o, s:I, s:o, s:o, s:o, s:o, s:o, s:o, s:o}",
                     "label", entry->label, "kind", entry->kind, "world", world, "guarantee",
                     cli_guarantee_json(entry), "verdict", tacit_audit_verdict_name(a->verdict),
                     "words", a->words, "epsilon", cli_json_number(a->epsilon), "trials",
                     (json_int_t)a->trials, "confidence", cli_json_number(a->confidence), "replay",
                     replay_json(a), "noise", noise, "pure", proof_json(&a->pure), "gaussian",
                     proof_json(&a->gaussian), "ceiling", cli_json_number(a->ceiling), "detectable",
                     cli_json_number(a->detectable));
}

json_t *cli_self_test_json(const tacit_self_test *test)
{
    json_t *list = json_array();
    for (size_t i = 0; list != NULL && i < test->n; i++) {
        const tacit_control *c = &test->controls[i];
        (void)json_array_append_new(
            list,
            json_pack("{s:s, s:s, s:b, s:I, s:I, s:I, s:b, s:s, s:s}", "name", c->name, "what",
                      c->what, "broken", c->broken, "audits", (json_int_t)c->audits, "convicted",
                      (json_int_t)c->convicted, "allowed", (json_int_t)c->allowed, "right",
                      c->right, "caught_by", c->caught_by, "words", c->words));
    }
    return json_pack("{s:b, s:o, s:o}", "right", test->right, "confidence",
                     cli_json_number(test->confidence), "controls", list);
}
