/* The notation for releases on the command line:
 *
 *     gaussian:l2=1,sigma=2[,count=10]        laplace:l1=1,scale=3[,count=5]
 *     dp:epsilon=0.1[,delta=0][,count=100]    zcdp:rho=0.03[,count=1]
 *
 * Keys in any order, each at most once, no blanks. Everything that is not exactly this is refused
 * with a sentence; nothing is guessed. */
#include "cli/release.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"

enum { MAX_KEYS = 3, MAX_TEXT = 512 };

typedef enum range { POSITIVE, NOT_NEGATIVE, BELOW_ONE, COUNT } range;

typedef struct key {
    const char *name;
    range range;
    bool needed;
    size_t offset; /* of the field in tacit_cost */
} key;

typedef struct kind {
    const char *name, *usage;
    tacit_cost_kind kind;
    key keys[MAX_KEYS + 1];
} kind;

#define FIELD(name) offsetof(tacit_cost, name)

static const kind kinds[] = {
    {"gaussian",
     "gaussian:l2=1,sigma=2,count=10",
     TACIT_COST_GAUSSIAN,
     {{"l2", POSITIVE, true, FIELD(sensitivity)},
      {"sigma", POSITIVE, true, FIELD(scale)},
      {"count", COUNT, false, FIELD(count)}}},
    {"laplace",
     "laplace:l1=1,scale=3,count=5",
     TACIT_COST_LAPLACE,
     {{"l1", POSITIVE, true, FIELD(sensitivity)},
      {"scale", POSITIVE, true, FIELD(scale)},
      {"count", COUNT, false, FIELD(count)}}},
    {"dp",
     "dp:epsilon=0.1,delta=0,count=100",
     TACIT_COST_BLACK_BOX,
     {{"epsilon", NOT_NEGATIVE, true, FIELD(epsilon)},
      {"delta", BELOW_ONE, false, FIELD(delta)},
      {"count", COUNT, false, FIELD(count)}}},
    {"zcdp",
     "zcdp:rho=0.03",
     TACIT_COST_ZCDP,
     {{"rho", POSITIVE, true, FIELD(rho)}, {"count", COUNT, false, FIELD(count)}}},
};
enum { N_KINDS = sizeof kinds / sizeof kinds[0] };

typedef struct place {
    const char *text;
    char *message;
    size_t size;
} place;

__attribute__((format(printf, 2, 3))) static int refuse(const place *at, const char *format, ...)
{
    char what[MAX_TEXT];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(what, sizeof what, format, args);
    va_end(args);
    (void)snprintf(at->message, at->size, "release '%.200s': %s", at->text, what);
    return -1;
}

static int read_value(const place *at, const key *k, const char *value, tacit_cost *cost)
{
    void *field = (char *)cost + k->offset;
    double x;
    if (k->range == COUNT) {
        if (!cli_count(value, field))
            return refuse(at, "count is '%.60s', expected a whole number from 1 to 10^12", value);
        return 0;
    }
    const char *wanted = k->range == POSITIVE       ? "a number > 0"
                         : k->range == NOT_NEGATIVE ? "a number >= 0"
                                                    : "a number in [0, 1)";
    bool ok = cli_number(value, &x);
    if (ok && k->range == POSITIVE)
        ok = x > 0;
    else if (ok)
        ok = x >= 0 && (k->range == NOT_NEGATIVE || x < 1);
    if (!ok)
        return refuse(at, "%s is '%.60s', expected %s", k->name, value, wanted);
    memcpy(field, &x, sizeof x);
    return 0;
}

static int read_pair(const place *at, const kind *of, char *pair, tacit_cost *cost, bool *seen)
{
    char *equals = strchr(pair, '=');
    if (equals == NULL)
        return refuse(at, "'%.60s' is not KEY=VALUE, expected for example %s", pair, of->usage);
    *equals = '\0';
    for (size_t i = 0; of->keys[i].name != NULL; i++)
        if (strcmp(of->keys[i].name, pair) == 0) {
            if (seen[i])
                return refuse(at, "%s is given twice", pair);
            seen[i] = true;
            return read_value(at, &of->keys[i], equals + 1, cost);
        }
    const char *names[MAX_KEYS + 1] = {NULL};
    for (size_t i = 0; of->keys[i].name != NULL; i++)
        names[i] = of->keys[i].name;
    const char *near = cli_nearest(pair, names);
    if (near != NULL)
        return refuse(at, "unknown key '%.60s', did you mean '%s'?", pair, near);
    return refuse(at, "unknown key '%.60s', expected for example %s", pair, of->usage);
}

static const kind *find_kind(const place *at, const char *name)
{
    const char *names[N_KINDS + 1] = {NULL};
    for (size_t i = 0; i < N_KINDS; i++) {
        names[i] = kinds[i].name;
        if (strcmp(name, names[i]) == 0)
            return &kinds[i];
    }
    const char *near = cli_nearest(name, names);
    if (near != NULL)
        (void)refuse(at, "unknown kind '%.60s', did you mean '%s'?", name, near);
    else
        (void)refuse(at, "unknown kind '%.60s', expected gaussian, laplace, dp or zcdp", name);
    return NULL;
}

int cli_release_parse(const char *text, tacit_cost *out, char *message, size_t message_size)
{
    const place at = {text, message, message_size};
    char copy[MAX_TEXT];
    if (strlen(text) >= sizeof copy)
        return refuse(&at, "longer than %d characters", MAX_TEXT - 1);
    memcpy(copy, text, strlen(text) + 1);
    char *colon = strchr(copy, ':');
    if (colon == NULL)
        return refuse(&at, "expected KIND:KEY=VALUE,..., for example %s", kinds[0].usage);
    *colon = '\0';
    const kind *of = find_kind(&at, copy);
    if (of == NULL)
        return -1;

    tacit_cost cost = {.kind = of->kind, .count = 1};
    bool seen[MAX_KEYS] = {false};
    for (char *pair = colon + 1, *comma; pair != NULL; pair = comma) {
        comma = strchr(pair, ',');
        if (comma != NULL)
            *comma++ = '\0';
        if (read_pair(&at, of, pair, &cost, seen) != 0)
            return -1;
    }
    for (size_t i = 0; of->keys[i].name != NULL; i++)
        if (of->keys[i].needed && !seen[i])
            return refuse(&at, "%s is missing, expected for example %s", of->keys[i].name,
                          of->usage);
    *out = cost;
    return 0;
}
