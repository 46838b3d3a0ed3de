/* Tables beside a service file (rewards, mixtures, features): every input is offered as each of them, and its header decides
 * which it is. Refused, it has a sentence and leaves the learner as it was. Read, it holds what the service relies on, and the
 * same numbers told again, in the opposite order and without the zeros that need no line, are the same table. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz/fuzz.h"
#include "lab/files/public_tables.h"

enum { HORIZON = 2, PLACES = 4 };

static const struct shape {
    tacit__table_name table;
    size_t n_states, n_actions;
    bool stationary, disjoint;
    double bound; /* of features; 0: not declared */
    const char *header;
} shapes[] = {
    {TACIT__TABLE_REWARDS, 3, 2, .stationary = true, .header = "state,action,reward"},
    {TACIT__TABLE_REWARDS, 3, 2, .header = "step,state,action,reward"},
    {TACIT__TABLE_MIXTURE, 3, 2, .header = "state,action,part,next_state,probability"},
    {TACIT__TABLE_FEATURES, 4, 5, .header = "state,action,feature,value"},
    {TACIT__TABLE_FEATURES, 4, 5, .bound = 2, .header = "state,action,feature,value"},
    {TACIT__TABLE_FEATURES, 4, 5, .disjoint = true, .header = "state,feature,value"},
    {TACIT__TABLE_WEIGHTS, 4, 5, .header = "state,probability"},
};

/* The file with this text, in memory: its path. */
static const char *put(const void *text, size_t size)
{
    static int fd = -1;
    static char path[64];
    if (fd < 0) {
        fd = memfd_create("table", MFD_CLOEXEC);
        require(fd >= 0);
        (void)snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    }
    require(ftruncate(fd, 0) == 0 && pwrite(fd, text, size, 0) == (ssize_t)size);
    return path;
}

static tacit_status load(const struct shape *shape, const char *path, tacit__learner_config *out)
{
    tacit_error err = {.message = ""};
    *out = (tacit__learner_config){.request = {.file = "fuzz/service.yaml",
                                               .n_states = shape->n_states,
                                               .n_actions = shape->n_actions,
                                               .horizon = HORIZON,
                                               .stationary = shape->stationary},
                                   .known = {.disjoint = shape->disjoint, .bound = shape->bound}};
    out->files[shape->table].name = path;
    out->files[shape->table].line = 7;
    const tacit__world_tables before = out->known;
    tacit_status status = tacit__table_load(out, shape->table, &err);
    if (status != TACIT_OK)
        require(err.message[0] != '\0' && out->known.table[shape->table] == NULL &&
                out->known.parts == before.parts && out->known.features == before.features);
    else
        require(out->known.table[shape->table] != NULL &&
                tacit__world_tables_is_valid(&out->known, &out->request));
    return status;
}

/* The table as a text, its last number first. */
static char *tell(const struct shape *shape, const tacit__learner_config *l, size_t *n_text)
{
    const tacit__world_tables *k = &l->known;
    const size_t S = shape->n_states, A = shape->n_actions;
    const size_t sides[TACIT__N_TABLES][PLACES] = {
        [TACIT__TABLE_REWARDS] = {shape->stationary ? 0 : HORIZON, S, A, 0},
        [TACIT__TABLE_MIXTURE] = {S, A, k->parts, S},
        [TACIT__TABLE_FEATURES] = {S, shape->disjoint ? 0 : A, k->features, 0},
        [TACIT__TABLE_WEIGHTS] = {S, 0, 0, 0}};
    const double *x = k->table[shape->table];
    char *text = NULL;
    FILE *out = open_memstream(&text, n_text);
    require(out != NULL);
    (void)fprintf(out, "%s\n", shape->header);
    for (size_t i = tacit__world_tables_size(k, &l->request, shape->table); i-- > 0;) {
        size_t at[PLACES] = {0}, rest = i, last = PLACES;
        for (size_t j = PLACES; j-- > 0;)
            if (sides[shape->table][j] > 0) { /* a column of the file */
                at[j] = rest % sides[shape->table][j];
                rest /= sides[shape->table][j];
                last = last == PLACES ? j : last;
            }
        if (x[i] == 0 && shape->table != TACIT__TABLE_REWARDS &&
            at[last] + 1 < sides[shape->table][last])
            continue; /* the last of a row says that there is the row, and how long it is */
        for (size_t j = 0; j < PLACES; j++)
            if (sides[shape->table][j] > 0)
                (void)fprintf(out, "%zu,", at[j]);
        (void)fprintf(out, "%.17g\n", x[i]);
    }
    require(fclose(out) == 0);
    return text;
}

static void check(const struct shape *shape, const tacit__learner_config *first)
{
    /* probabilities are divided by their sums once more */
    const double tol =
        shape->table == TACIT__TABLE_MIXTURE || shape->table == TACIT__TABLE_WEIGHTS ? 1e-14 : 0;
    tacit__learner_config again;
    size_t n_text = 0, n = tacit__world_tables_size(&first->known, &first->request, shape->table);
    char *text = tell(shape, first, &n_text);
    require(load(shape, put(text, n_text), &again) == TACIT_OK);
    require(again.known.parts == first->known.parts &&
            again.known.features == first->known.features);
    for (size_t i = 0; i < n; i++)
        require(fabs(again.known.table[shape->table][i] - first->known.table[shape->table][i]) <=
                tol);
    tacit__world_tables_destroy(&again.known);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        tacit__learner_config l;
        if (load(&shapes[i], put(data, size), &l) == TACIT_OK)
            check(&shapes[i], &l);
        tacit__world_tables_destroy(&l.known);
    }
    return 0;
}
