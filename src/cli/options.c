/* See cli/options.h. */
#include "cli/options.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "cli/cli.h"
#include "cli/complete.h"
#include "text/nearest.h"

enum { FIRST = 256 }; /* code of the first option; letters are below */

const tacit__range cli_not_negative = {0, HUGE_VAL, .expected = "a number >= 0"},
                   cli_positive = {0, HUGE_VAL, .open = true, .expected = "a number > 0"},
                   cli_below_one = {0, 1, .expected = "a number in [0, 1)"};

bool cli_read_field(const tacit__field *f, const char *text, void *object)
{
    TACIT__REQUIRE(f->name != NULL && text != NULL && object != NULL);
    return (f->type != TACIT__FIELD_COUNT || isdigit((unsigned char)text[0])) &&
           tacit__field_read(f, text, object);
}

/* "--count", or "-j" where there is a letter: what a message calls it. */
static const char *name_of(const tacit__field *o, char out[32])
{
    if (o->letter != 0)
        (void)snprintf(out, 32, "-%c", o->letter);
    else
        (void)snprintf(out, 32, "--%s", o->name);
    return out;
}

/* --- Help --------------------------------------------------------------------------------------- */

/* "-j, --jobs N" */
static size_t write_head(const tacit__field *o, char out[64])
{
    char letter[8] = "";
    if (o->letter != 0)
        (void)snprintf(letter, sizeof letter, "-%c, ", o->letter);
    return (size_t)snprintf(out, 64, "%s--%s%s%s", letter, o->name, o->value != NULL ? " " : "",
                            o->value != NULL ? o->value : "");
}

static void print_option(const tacit__field *o, int width)
{
    char head[64];
    (void)write_head(o, head);
    const char *line = o->help;
    for (const char *end; (end = strchr(line, '\n')) != NULL; line = end + 1, head[0] = '\0')
        (void)printf("  %-*s  %.*s\n", width, head, (int)(end - line), line);
    (void)printf("  %-*s  %s\n", width, head, line);
}

static void print_help(const cli_form *form)
{
    char head[64];
    size_t width = 0;
    for (const tacit__field *o = form->options; o->name != NULL; o++) {
        size_t n = write_head(o, head);
        width = n > width ? n : width;
    }
    (void)fputs(form->before, stdout);
    for (const tacit__field *o = form->options; o->name != NULL; o++)
        print_option(o, (int)width);
    (void)fputs(form->after, stdout);
}

/* --- Reading ------------------------------------------------------------------------------------ */

/* Reports what getopt_long has just refused. */
static int refuse(char **argv, int code, const tacit__field *options)
{
    static const char *const help[] = {"help"};
    const char *text = argv[optind - 1];
    char word[64];
    if (code == ':')
        return cli_wrong("option '%s' needs a value; see --help", text);
    if (strncmp(text, "--", 2) != 0)
        return cli_wrong("unknown option '-%c'; see --help", optopt);
    size_t length = strcspn(text + 2, "=");
    (void)snprintf(word, sizeof word, "%.*s", (int)(length < 60 ? length : 60), text + 2);
    if (tacit__field_find(options, word) != SIZE_MAX || strcmp(word, help[0]) == 0)
        return cli_wrong("option '--%s' takes no value, got '%s'", word, text);
    const char *near = tacit__field_nearest(options, word);
    if (near == NULL)
        near = tacit__nearest(word, help, 1);
    if (near != NULL)
        return cli_wrong("unknown option '--%s', did you mean '--%s'?", word, near);
    return cli_wrong("unknown option '--%s'; see --help", word);
}

static int read_one(const tacit__field *o, char **argv, void *object, bool again)
{
    const char *text = o->value != NULL ? optarg : "yes";
    char name[32], advice[TACIT__ADVICE];
    if (o->written_out && strcmp(argv[optind - 1] + 2, o->name) != 0)
        return cli_wrong("--%s must be written out", o->name);
    if (again && o->once)
        return cli_wrong("%s is given twice", name_of(o, name));
    if (!cli_read_field(o, text, object))
        return cli_wrong("%s is '%s', expected %s", name_of(o, name), text,
                         tacit__field_advice(o, text, advice));
    return CLI_DONE;
}

/* The table as getopt_long wants it. */
static size_t translate(const tacit__field *options, struct option *table, char *letters)
{
    size_t n = 0, used = 0;
    letters[used++] = ':';
    letters[used++] = 'h';
    for (; n < CLI_MAX_OPTIONS && options[n].name != NULL; n++) {
        const tacit__field *o = &options[n];
        table[n] = (struct option){o->name, o->value != NULL ? required_argument : no_argument,
                                   NULL, o->letter != 0 ? o->letter : FIRST + (int)n};
        if (o->letter != 0)
            letters[used++] = o->letter;
        if (o->letter != 0 && o->value != NULL)
            letters[used++] = ':';
    }
    letters[used] = '\0';
    table[n] = (struct option){"help", no_argument, NULL, 'h'};
    table[n + 1] = (struct option){NULL, 0, NULL, 0};
    return n;
}

int cli_read_options(int argc, char **argv, const cli_form *form, void *object, uint64_t *given)
{
    TACIT__REQUIRE(argc > 0 && form != NULL && object != NULL);
    if (cli_is_completing()) {
        cli_complete_options(form);
        return CLI_HELPED;
    }
    struct option table[CLI_MAX_OPTIONS + 2];
    char letters[2 * CLI_MAX_OPTIONS + 3];
    const size_t n = translate(form->options, table, letters);
    uint64_t seen = 0;
    bool help = false;
    opterr = 0;
    optind = 1;
    for (int code; (code = getopt_long(argc, argv, letters, table, NULL)) != -1;) {
        size_t i = 0;
        if (code == '?' || code == ':')
            return refuse(argv, code, form->options);
        while (i < n && table[i].val != code)
            i++;
        if (i == n) {
            help = true;
            continue;
        }
        int status = read_one(&form->options[i], argv, object, (seen >> i & 1) != 0);
        if (status != CLI_DONE)
            return status;
        seen |= UINT64_C(1) << i;
    }
    if (given != NULL)
        *given = seen;
    if (help)
        print_help(form);
    return help ? CLI_HELPED : CLI_DONE;
}

int cli_read_argument(int argc, char **argv, const char *missing, const char *noun,
                      const char **out)
{
    TACIT__REQUIRE(missing != NULL && noun != NULL && out != NULL);
    if (optind == argc)
        return cli_wrong("%s; see tacit %s --help", missing, argv[0]);
    if (optind + 1 < argc)
        return cli_wrong("unexpected argument '%s' after '%s', expected one %s", argv[optind + 1],
                         argv[optind], noun);
    *out = argv[optind];
    return CLI_DONE;
}
