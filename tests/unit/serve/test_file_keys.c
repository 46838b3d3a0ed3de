/* The tables of keys in docs/reference against the tables by which files are read: the same keys, the same defaults. */
#include "support/check.h"

#include <stdio.h>
#include <string.h>

#include "lab/experiment.h"
#include "lab/files/config_space.h"
#include "lab/runs/visitors.h"
#include "serve/config.h"

enum { MAX_FIELDS = 64 };

static char page[1 << 17];

static void open_page(const char *name)
{
    char path[300];
    (void)snprintf(path, sizeof path, "%s/../docs/reference/%s", TACIT_TESTS_DIR, name);
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    page[fread(page, 1, sizeof page - 1, f)] = '\0';
    assert_int_equal(fclose(f), 0);
}

/* Cell number i of a row, without the blanks around it. */
static const char *cell(const char *row, size_t i, char out[2000])
{
    const char *at = row;
    for (size_t j = 0; j <= i; j++) {
        at = strstr(at, "| ");
        assert_true(at != NULL && at < strchr(row, '\n'));
        at += 2;
    }
    const char *end = strstr(at, "|");
    assert_non_null(end);
    (void)snprintf(out, 2000, "%.*s", (int)(end - at), at);
    for (size_t n = strlen(out); n > 0 && out[n - 1] == ' '; n--)
        out[n - 1] = '\0';
    return out;
}

/* The default that a row prints is that of the table. */
static void check_default(const tacit__field *f, const char *row, size_t column)
{
    char printed[2000], quoted[100];
    (void)cell(row, column, printed);
    if (f->example != NULL && strncmp(printed, "required", 8) != 0)
        fail_msg("`%s` is required, and the page says '%s'", f->name, printed);
    if (f->fallback == NULL)
        return;
    (void)snprintf(quoted, sizeof quoted, "`%s`", f->fallback);
    if (strcmp(printed, f->fallback) != 0 && strcmp(printed, quoted) != 0)
        fail_msg("the default of `%s` is %s, and the page says '%s'", f->name, f->fallback,
                 printed);
}

/* Every name in the first cell is a key; marks them as seen. A word without quotation marks stands for others. */
static void check_row(const tacit__field *fields, const char *row, size_t column, bool *seen)
{
    char names[2000];
    (void)cell(row, 0, names);
    for (char *name = strchr(names, '`'); name != NULL; name = strchr(name, '`')) {
        char *end = strchr(++name, '`');
        assert_non_null(end);
        *end = '\0';
        const size_t i = tacit__field_find(fields, name);
        if (i == SIZE_MAX)
            fail_msg("the page has `%s`, which is no key", name);
        assert_true(i < MAX_FIELDS && !seen[i]);
        seen[i] = true;
        if (column > 0)
            check_default(&fields[i], row, column);
        name = end + 1;
    }
}

/* The first table after `heading` whose header begins with `head`; `column` is that of the defaults, 0: none. */
static void check_table(const char *heading, const char *head, size_t column,
                        const tacit__field *fields)
{
    bool seen[MAX_FIELDS] = {false};
    const char *section = strstr(page, heading);
    assert_non_null(section);
    const char *row = strstr(section, head);
    assert_non_null(row);
    row = strstr(row, "\n|---");
    assert_non_null(row);
    for (row = strchr(row + 1, '\n') + 1; row[0] == '|'; row = strchr(row, '\n') + 1)
        check_row(fields, row, column, seen);
    for (size_t i = 0; fields[i].name != NULL; i++)
        if (!seen[i])
            fail_msg("%s: the page has no row for `%s`", heading, fields[i].name);
}

static const tacit__field *inside(const tacit__field *fields, const char *name)
{
    const size_t i = tacit__field_find(fields, name);
    assert_true(i != SIZE_MAX && fields[i].type == TACIT__FIELD_MAP);
    return fields[i].fields;
}

TEST(the_page_of_experiments_has_their_keys_and_defaults)
{
    static const char head[] = "| key | meaning | default |";
    open_page("experiment.md");
    check_table("# Experiment files", head, 2, tacit__experiment_fields);
    check_table("## Visitors", head, 2, tacit__visitors_fields);
    check_table("## Agents", head, 2, tacit__entry_fields);
    check_table("## Privacy", head, 2, inside(tacit__entry_fields, "privacy"));
}

TEST(the_page_of_services_has_their_keys_and_defaults)
{
    static const char head[] = "| key | default | meaning |";
    open_page("service.md");
    check_table("# Service files", head, 1, tacit__service_fields);
    check_table("## Limits", head, 1, inside(tacit__service_fields, "limits"));
    check_table("## Learners", head, 1, tacit__learner_fields);
    check_table("## Learners", "| key of `space` | meaning |", 0, tacit__space_fields);
}
