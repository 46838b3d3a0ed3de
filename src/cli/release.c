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

#include "base/error.h"
#include "cli/cli.h"
#include "cli/options.h"
#include "text/nearest.h"

enum { MAX_KEYS = 3, MAX_TEXT = 512 };

typedef struct kind {
    const char *name, *usage;
    tacit_cost_kind kind;
    tacit__field keys[MAX_KEYS + 1]; /* those with an example must be given */
} kind;

#define FIELD(member) offsetof(tacit_cost, member)
#define COUNT                                                                                      \
    TACIT__FIELD_COUNT, FIELD(count), 1, CLI_MAX_COUNT, .expected = "a whole number from 1 to 10^12"

static const kind kinds[] = {
    {"gaussian",
     "gaussian:l2=1,sigma=2,count=10",
     TACIT_COST_GAUSSIAN,
     {{"l2", TACIT__FIELD_REAL, FIELD(sensitivity), .range = &cli_positive, .example = "1"},
      {"sigma", TACIT__FIELD_REAL, FIELD(scale), .range = &cli_positive, .example = "2"},
      {"count", COUNT}}},
    {"laplace",
     "laplace:l1=1,scale=3,count=5",
     TACIT_COST_LAPLACE,
     {{"l1", TACIT__FIELD_REAL, FIELD(sensitivity), .range = &cli_positive, .example = "1"},
      {"scale", TACIT__FIELD_REAL, FIELD(scale), .range = &cli_positive, .example = "3"},
      {"count", COUNT}}},
    {"dp",
     "dp:epsilon=0.1,delta=0,count=100",
     TACIT_COST_BLACK_BOX,
     {{"epsilon", TACIT__FIELD_REAL, FIELD(epsilon), .range = &cli_not_negative, .example = "0.1"},
      {"delta", TACIT__FIELD_REAL, FIELD(delta), .range = &cli_below_one},
      {"count", COUNT}}},
    {"zcdp",
     "zcdp:rho=0.03",
     TACIT_COST_ZCDP,
     {{"rho", TACIT__FIELD_REAL, FIELD(rho), .range = &cli_positive, .example = "0.03"},
      {"count", COUNT}}},
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

static int read_pair(const place *at, const kind *of, char *pair, tacit_cost *cost, bool *seen)
{
    char *equals = strchr(pair, '='), advice[TACIT__ADVICE];
    if (equals == NULL)
        return refuse(at, "'%.60s' is not KEY=VALUE, expected for example %s", pair, of->usage);
    *equals = '\0';
    const char *value = equals + 1, *near;
    const size_t i = tacit__field_find(of->keys, pair);
    if (i != SIZE_MAX && seen[i])
        return refuse(at, "%s is given twice", pair);
    if (i != SIZE_MAX) {
        seen[i] = true;
        return cli_read_field(&of->keys[i], value, cost)
                   ? 0
                   : refuse(at, "%s is '%.60s', expected %s", pair, value,
                            tacit__field_advice(&of->keys[i], value, advice));
    }
    near = tacit__field_nearest(of->keys, pair);
    if (near != NULL)
        return refuse(at, "unknown key '%.60s', did you mean '%s'?", pair, near);
    return refuse(at, "unknown key '%.60s', expected for example %s", pair, of->usage);
}

static const kind *find_kind(const place *at, const char *name)
{
    const char *names[N_KINDS];
    for (size_t i = 0; i < N_KINDS; i++) {
        names[i] = kinds[i].name;
        if (strcmp(name, names[i]) == 0)
            return &kinds[i];
    }
    char hint[TACIT__SUGGESTION];
    (void)refuse(at, "unknown kind '%.60s'%s", name,
                 tacit__suggest(name, names, N_KINDS, NULL, hint));
    return NULL;
}

int cli_release_parse(const char *text, tacit_cost *out, char *message, size_t message_size)
{
    TACIT__REQUIRE(text != NULL && out != NULL && message != NULL && message_size > 0);
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
        if (of->keys[i].example != NULL && !seen[i])
            return refuse(&at, "%s is missing, expected for example %s", of->keys[i].name,
                          of->usage);
    *out = cost;
    return 0;
}
