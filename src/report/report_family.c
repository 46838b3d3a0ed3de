/* Families: private agents that differ in epsilon alone. They are one line in the price of privacy, and
 * have one hue in every figure, so that the eye follows a method from figure to figure; lightness and
 * dashes tell its epsilons apart. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "report/model.h"

#include "base/error.h"

static bool same_settings(const tacit_entry *a, const tacit_entry *b)
{
    if (a->n_settings != b->n_settings)
        return false;
    for (size_t i = 0; i < a->n_settings; i++) {
        size_t j = 0;
        while (j < b->n_settings && strcmp(a->settings[i].key, b->settings[j].key) != 0)
            j++;
        if (j == b->n_settings || strcmp(a->settings[i].value, b->settings[j].value) != 0)
            return false;
    }
    return true;
}

static bool related(const tacit_entry *a, const tacit_entry *b)
{
    bool same_sums =
        a->sums == b->sums || (a->sums != NULL && b->sums != NULL && strcmp(a->sums, b->sums) == 0);
    return strcmp(a->kind, b->kind) == 0 && a->guarantee.model == b->guarantee.model &&
           a->calibration == b->calibration &&
           (a->guarantee.delta > 0) == (b->guarantee.delta > 0) && same_sums && same_settings(a, b);
}

static const tacit_entry *head_of(const tacit__report *r, size_t family)
{
    return r->agents[r->families[family].members[0]].entry;
}

static void sort_members(const tacit__report *r, tacit__report_family *f)
{
    for (size_t i = 1; i < f->n_members; i++)
        for (size_t j = i; j > 0; j--) {
            size_t *a = &f->members[j - 1], *b = &f->members[j], swap = *a;
            if (r->agents[*a].entry->guarantee.epsilon <= r->agents[*b].entry->guarantee.epsilon)
                break;
            *a = *b;
            *b = swap;
        }
}

/* Returns whether no label has a word across its n-th byte. */
static bool is_boundary(const tacit__report *r, const tacit__report_family *f, size_t n)
{
    for (size_t m = 0; m < f->n_members; m++) {
        const char *label = r->agents[f->members[m]].entry->label;
        if (label[n - 1] != ' ' && label[n] != ' ' && label[n] != '\0')
            return false;
    }
    return true;
}

/* The beginning that all labels of a family have in common, without the words that announce an epsilon:
 * "joint" from "joint eps 1", "joint eps 10". False: there is no such name. */
static bool name_by_labels(const tacit__report *r, tacit__report_family *f)
{
    static const char *const announcements[] = {"epsilon", "eps", "ε", "=", ",", ":", "(", " "};
    const char *first = r->agents[f->members[0]].entry->label;
    size_t n = strlen(first) < sizeof f->name ? strlen(first) : sizeof f->name - 1;
    for (size_t m = 1; m < f->n_members; m++) {
        const char *label = r->agents[f->members[m]].entry->label;
        size_t same = 0;
        while (same < n && label[same] == first[same])
            same++;
        n = same;
    }
    while (f->n_members > 1 && n > 0 && !is_boundary(r, f, n))
        n--;
    for (bool cut = true; cut && f->n_members > 1;) {
        cut = false;
        for (size_t i = 0; i < sizeof announcements / sizeof *announcements && !cut; i++) {
            size_t length = strlen(announcements[i]);
            cut = n >= length && memcmp(first + n - length, announcements[i], length) == 0;
            n -= cut ? length : 0;
        }
    }
    (void)snprintf(f->name, sizeof f->name, "%.*s", (int)n, first);
    return n > 0;
}

/* Writes a name that is as short as possible and unique: the model; the kind, the calibration, the law
 * and the settings where these differ. */
static void name_by_nature(const tacit__report *r, size_t i)
{
    TACIT__REQUIRE(i < r->n_agents);
    tacit__report_family *f = &r->families[i];
    const tacit_entry *e = head_of(r, i);
    bool kinds = false, laws = false, others = false;
    for (size_t j = 0; j < r->n_families; j++) {
        const tacit_entry *o = head_of(r, j);
        bool alike = o->guarantee.model == e->guarantee.model && o->calibration == e->calibration;
        kinds = kinds || strcmp(o->kind, e->kind) != 0;
        laws = laws || (alike && (o->guarantee.delta > 0) != (e->guarantee.delta > 0));
        others = others || (j != i && alike && strcmp(o->kind, e->kind) == 0 &&
                            (o->guarantee.delta > 0) == (e->guarantee.delta > 0));
    }
    const bool tight = e->calibration == TACIT_CALIBRATION_TIGHT;
    size_t used = (size_t)snprintf(
        f->name, sizeof f->name, "%.40s%s%s%s%s%s", kinds ? e->kind : "", kinds ? ", " : "",
        tacit_model_name(e->guarantee.model), laws && e->guarantee.delta == 0 ? ", pure" : "",
        tight ? "" : ", ", tight ? "" : tacit_calibration_name(e->calibration));
    if (others && e->sums != NULL && used < sizeof f->name)
        used += (size_t)snprintf(f->name + used, sizeof f->name - used, ", %.20s", e->sums);
    for (size_t s = 0; others && s < e->n_settings && used < sizeof f->name; s++)
        used += (size_t)snprintf(f->name + used, sizeof f->name - used, ", %.24s %.24s",
                                 e->settings[s].key, e->settings[s].value);
}

static void name_all(const tacit__report *r)
{
    for (size_t i = 0; i < r->n_families; i++) {
        bool named = name_by_labels(r, &r->families[i]);
        for (size_t j = 0; j < i && named; j++)
            named = strcmp(r->families[i].name, r->families[j].name) != 0;
        if (!named)
            name_by_nature(r, i);
    }
}

/* Dashes that each hue has used. */
typedef struct dash_counts {
    int next[TACIT__GRAY + 1];
} dash_counts;

/* The weakest promise is darkest, and the first to be solid. */
static void style_members(tacit__report *r, size_t family, dash_counts *counts)
{
    tacit__report_family *f = &r->families[family];
    const int color = 1 + (int)(family % TACIT__COLORS), n = (int)f->n_members;
    const int span = n == 1 ? 0 : n < TACIT__SHADES ? n : TACIT__SHADES;
    f->style = (tacit__style){color, 0, counts->next[color]};
    for (int m = n - 1; m >= 0; m--) {
        double place = n > 1 ? 1 - 2.0 * m / (n - 1) : 0;
        r->agents[f->members[m]].style =
            (tacit__style){color, (int)lround(span * place), counts->next[color]++};
    }
}

void tacit__report_families(tacit__report *r)
{
    size_t used = 0;
    dash_counts counts = {.next[TACIT__GRAY] = 1};
    for (size_t i = 0; i < r->n_agents; i++) {
        tacit__report_agent *p = &r->agents[i];
        p->family = SIZE_MAX;
        if (p->entry->baseline)
            p->style = (tacit__style){TACIT__GRAY, 0, counts.next[TACIT__GRAY]++};
        else if (p->entry->guarantee.model == TACIT_MODEL_NONE)
            p->style = (tacit__style){0, 0, counts.next[0]++};
    }
    for (size_t i = 0; i < r->n_agents; i++) {
        if (r->agents[i].entry->guarantee.model == TACIT_MODEL_NONE ||
            r->agents[i].family != SIZE_MAX)
            continue;
        tacit__report_family *f = &r->families[r->n_families];
        f->members = r->members + used;
        for (size_t j = i; j < r->n_agents; j++)
            if (r->agents[j].entry->guarantee.model != TACIT_MODEL_NONE &&
                related(r->agents[i].entry, r->agents[j].entry)) {
                r->agents[j].family = r->n_families;
                f->members[f->n_members++] = j;
            }
        used += f->n_members;
        sort_members(r, f);
        style_members(r, r->n_families, &counts);
        r->n_families++;
    }
    name_all(r);
}
