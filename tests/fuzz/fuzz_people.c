/* Files of people: a line with the context's columns, a line with the answer's, then the file; or four lines, when the
 * first is "log". Read, or refused with a sentence; what is read has features of length at most 1. The same file as a
 * log of a service's users: every one of them fits, or the line is named. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz/fuzz.h"
#include "worlds/people.h"
#include "worlds/user_log.h"

enum { MOST = 400 };

/* The next line as a text of its own; longer ones are cut. */
static void read_line(tacit__span *rest, char out[MOST])
{
    tacit__span line = {"", 0};
    (void)tacit__line_next(rest, &line);
    size_t n = line.size < MOST - 1 ? line.size : MOST - 1;
    memcpy(out, line.text, n);
    out[n] = '\0';
}

static void check(const tacit__people *p)
{
    require(p->n > 0 && p->dimension > 0 && p->n_actions > 0);
    for (size_t i = 0; i < p->n; i++) {
        double square = 0;
        for (size_t j = 0; j < p->dimension; j++)
            square += p->features[i * p->dimension + j] * p->features[i * p->dimension + j];
        require(square <= 1 + 1e-9 && p->answer[i] < p->n_actions);
        if (p->reward != NULL)
            require(p->reward[i] >= 0 && p->reward[i] <= 1 && p->propensity[i] > 0 &&
                    p->propensity[i] <= 1);
    }
}

/* A log of users in these columns, if all of them are declared. */
static void read_users(tacit__span text, const char *declared, size_t size)
{
    static const char *const names[] = {"a", "b"};
    static tacit__columns_list columns;
    static tacit__user_log log;
    const tacit__declaration context = {"f.yaml", "context", declared, 1};
    tacit_error err = {.message = ""};
    bool usable = tacit__columns_read(&context, &columns, NULL) == TACIT_OK;
    for (size_t i = 0; usable && i < columns.n; i++)
        usable = columns.column[i].declared;
    const size_t d = usable ? tacit__columns_arrange(&columns, true) : 0;
    const tacit__log_source source = {.text = text,
                                      .name = "p.csv",
                                      .file = "f.yaml",
                                      .line = 1,
                                      .context = size % 2 == 0 && usable ? &columns : NULL,
                                      .intercept = true,
                                      .unit = size % 3 == 0,
                                      .n_states = 3,
                                      .action_names = size % 5 == 0 ? names : NULL,
                                      .n_actions = 2,
                                      .reward_high = 1,
                                      .clip = size % 7 == 0,
                                      .missing = "?",
                                      .columns = {"state", "action", "reward", NULL, "user"}};
    double *x = calloc(d + 1, sizeof *x);
    tacit__logged_user user;
    tacit_status status = tacit__user_log_open(&log, &source, &err);
    for (bool more = true; status == TACIT_OK && more;) {
        status = tacit__user_log_next(&log, &more, &user, x, &err);
        if (status != TACIT_OK || !more)
            break;
        double square = 0;
        for (size_t j = 0; j < d; j++)
            square += x[j] * x[j];
        require(square <= 1 + 1e-9 && user.action < 2 && user.state < 3);
        require(user.reward >= 0 && user.reward <= 1 && user.id.size > 0 && user.id.size <= 256);
    }
    require(status == TACIT_OK || err.message[0] != '\0');
    free(x);
    tacit__columns_free(&columns);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char first[MOST], context[MOST], answer[MOST], propensity[MOST] = "", reward[MOST] = "";
    tacit__span rest = {size > 0 ? (const char *)data : "", size};
    read_line(&rest, first);
    int logged = strcmp(first, "log") == 0;
    if (logged) {
        read_line(&rest, context);
        read_line(&rest, answer);
        read_line(&rest, propensity);
        read_line(&rest, reward);
    } else {
        memcpy(context, first, sizeof context);
        read_line(&rest, answer);
    }
    const tacit__people_source source = {.text = rest,
                                         .name = "p.csv",
                                         .missing = "?",
                                         .intercept = size % 2 == 0,
                                         .unit = size % 3 == 0,
                                         .context = {"f.yaml", "context", context, 1},
                                         .label = {"f.yaml", "answer", logged ? "" : answer, 2},
                                         .action = {"f.yaml", "action", logged ? answer : "", 3},
                                         .propensity = {"f.yaml", "propensity", propensity, 4},
                                         .reward = {"f.yaml", "reward", reward, 5}};
    tacit__people *people = NULL;
    tacit_error err = {.message = ""};
    if (tacit__people_read(&source, &people, &err) == TACIT_OK)
        check(people);
    else
        require(people == NULL && err.message[0] != '\0');
    tacit__people_destroy(people);
    read_users(rest, context, size);
    return 0;
}
