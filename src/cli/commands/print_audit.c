/* See cli/commands/print_audit.h. */
#include "cli/commands/print_audit.h"

#include <math.h>
#include <stdio.h>

#include <tacit/explain.h>

#include "base/error.h"
#include "cli/cli.h"
#include "cli/experiment_text.h"

/* --- Text ---------------------------------------------------------------------------------------- */

static const char *loss_name(const tacit_audit *a)
{
    return a->law == TACIT_LAW_GAUSSIAN ? "mu" : "epsilon";
}

static void print_replay(const tacit_audit *a)
{
    char text[800], who[120];
    int n = snprintf(who, sizeof who, "user %llu", (unsigned long long)a->position);
    if (a->visits > 1)
        (void)snprintf(who + n, sizeof who - (size_t)n,
                       " and their later visits (up to %llu in all, %llu users apart)",
                       (unsigned long long)a->visits, (unsigned long long)a->apart);
    (void)snprintf(text, sizeof text,
                   "%llu neighbors (%llu of them outside the declared domain, whom the curator may "
                   "refuse, and did); the worst, %s replaced, "
                   "moves the releases by %s %.4g, and the plan declares %.4g; %s%s%s%s",
                   (unsigned long long)a->neighbors, (unsigned long long)a->refused, who,
                   loss_name(a), a->moved, a->declared,
                   a->same_calls ? "the same calls" : "NOT the same calls",
                   a->same_view ? ", the same view" : ", NOT the same view",
                   a->same_taken ? "" : ", NOT the same users taken",
                   a->declared_only ? "" : ", NOT as declared");
    cli_print_wrapped("  replay      ", text);
    int used =
        snprintf(text, sizeof text, "%.3f of the declared %s was reached", a->share, loss_name(a));
    if (a->share_elsewhere > 0)
        (void)snprintf(text + used, sizeof text - (size_t)used,
                       ", and %.3f with public knowledge that the auditor chose",
                       a->share_elsewhere);
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
        (void)snprintf(text, sizeof text,
                       "these trials alone would not find noise that is 16 times too small; they "
                       "can prove at most epsilon %.3g",
                       fmax(a->ceiling, 0));
    else
        (void)snprintf(text, sizeof text,
                       "the trials alone would find noise that is %.3g times too small with 90 %% "
                       "probability; they can prove at most epsilon %.3g",
                       a->detectable, fmax(a->ceiling, 0));
    cli_print_wrapped("  power       ", text);
}

void cli_audit_print(const tacit_entry *entry, const char *kind, const tacit_audit *a)
{
    TACIT__REQUIRE(entry != NULL && a->words != NULL);
    const tacit_guarantee *g = &a->claim;
    char head[64], name[CLI_KIND_TEXT];
    (void)printf("%s (%s)\n", entry->label, cli_kind_text(name, sizeof name, entry->kind, kind));
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

static void put_proof(tacit__json_writer *to, const char *key, const tacit_audit_proof *p)
{
    if (p->n == 0) {
        tacit__json_put_null(to, key);
        return;
    }
    tacit__json_begin_object(to, key);
    tacit__json_put_string(to, "score", p->score);
    tacit__json_put_string(to, "side", p->below ? "below" : "above");
    tacit__json_put_real(to, "threshold", p->threshold);
    tacit__json_put_count(to, "hits", p->hits);
    tacit__json_put_count(to, "alarms", p->alarms);
    tacit__json_put_count(to, "runs", p->n);
    tacit__json_put_real(to, "epsilon", p->epsilon);
    tacit__json_put_real(to, "mu", p->mu);
    tacit__json_end(to);
}

static void put_replay(tacit__json_writer *to, const tacit_audit *a)
{
    tacit__json_begin_object(to, "replay");
    tacit__json_put_count(to, "neighbors", a->neighbors);
    tacit__json_put_count(to, "refused", a->refused);
    tacit__json_put_count(to, "position", a->position);
    tacit__json_put_count(to, "visits", a->visits);
    tacit__json_put_count(to, "apart", a->apart);
    tacit__json_put_flag(to, "same_calls", a->same_calls);
    tacit__json_put_flag(to, "same_view", a->same_view);
    tacit__json_put_flag(to, "same_taken", a->same_taken);
    tacit__json_put_flag(to, "declared_only", a->declared_only);
    tacit__json_put_string(to, "loss", loss_name(a));
    tacit__json_put_real(to, "moved", a->moved);
    tacit__json_put_real(to, "declared", a->declared);
    tacit__json_put_real(to, "share", a->share);
    tacit__json_put_real(to, "share_elsewhere", a->share_elsewhere);
    tacit__json_put_real(to, "epsilon", a->replay_epsilon);
    tacit__json_put_string(to, "fault", a->fault);
    tacit__json_end(to);
}

static void put_noise(tacit__json_writer *to, const tacit_audit *a)
{
    tacit__json_begin_object(to, "noise");
    tacit__json_put_real(to, "draws", a->draws);
    tacit__json_put_real(to, "size", a->noise_size);
    tacit__json_put_string(to, "fault", a->noise_fault);
    tacit__json_end(to);
}

void cli_put_audit(tacit__json_writer *to, const char *world, const tacit_entry *entry,
                   const char *kind, const tacit_audit *a)
{
    TACIT__REQUIRE(world != NULL && entry != NULL && a->words != NULL);
    tacit__json_begin_object(to, NULL);
    tacit__json_put_string(to, "label", entry->label);
    cli_put_kind(to, entry->kind, kind);
    tacit__json_put_string(to, "world", world);
    cli_put_guarantee(to, entry);
    tacit__json_put_string(to, "verdict", tacit_audit_verdict_name(a->verdict));
    tacit__json_put_string(to, "words", a->words);
    tacit__json_put_real(to, "epsilon", a->epsilon);
    tacit__json_put_count(to, "trials", a->trials);
    tacit__json_put_real(to, "confidence", a->confidence);
    put_replay(to, a);
    put_noise(to, a);
    put_proof(to, "pure", &a->pure);
    put_proof(to, "gaussian", &a->gaussian);
    tacit__json_put_real(to, "ceiling", a->ceiling);
    tacit__json_put_real(to, "detectable", a->detectable);
    tacit__json_end(to);
}

static void put_control(tacit__json_writer *to, const tacit_control *c)
{
    tacit__json_begin_object(to, NULL);
    tacit__json_put_string(to, "name", c->name);
    tacit__json_put_string(to, "what", c->what);
    tacit__json_put_flag(to, "broken", c->broken);
    tacit__json_put_count(to, "audits", c->audits);
    tacit__json_put_count(to, "convicted", c->convicted);
    tacit__json_put_count(to, "allowed", c->allowed);
    tacit__json_put_flag(to, "right", c->right);
    tacit__json_put_string(to, "caught_by", c->caught_by);
    tacit__json_put_string(to, "words", c->words);
    tacit__json_end(to);
}

void cli_put_self_test(tacit__json_writer *to, const tacit_self_test *test)
{
    tacit__json_begin_object(to, NULL);
    tacit__json_put_flag(to, "right", test->right);
    tacit__json_put_real(to, "confidence", test->confidence);
    tacit__json_begin_list(to, "controls");
    for (size_t i = 0; i < test->n; i++)
        put_control(to, &test->controls[i]);
    tacit__json_end(to);
    tacit__json_end(to);
}
