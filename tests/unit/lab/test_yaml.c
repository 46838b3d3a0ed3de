/* The YAML tree: what is read, where it stands, and everything that is refused, with its line. */
#include "support/cases.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "lab/files/yaml.h"
#include "text/nearest.h"

SCOPED_TYPE(tacit__yaml, tacit__yaml_destroy)

static tacit__yaml *parse(const char *text)
{
    tacit__yaml *yaml = NULL;
    tacit_error err = {.message = ""};
    tacit_status status = tacit__yaml_parse(text, strlen(text), "f", &yaml, &err);
    assert_string_equal(err.message, "");
    assert_ok(status);
    return yaml;
}

static void assert_refused(const char *text, size_t size, const char *wanted)
{
    tacit__yaml *yaml = NULL;
    tacit_error err = {.message = ""};
    assert_status(tacit__yaml_parse(text, size, "f", &yaml, &err), TACIT_SYNTAX);
    assert_null(yaml);
    if (strstr(err.message, wanted) != err.message)
        fail_msg("got '%s'\nexpected '%s...'", err.message, wanted);
}

static void refuse(char *text, char answer[CASE_TEXT])
{
    tacit__yaml *yaml = NULL;
    tacit_error err = {.message = ""};
    assert_status(tacit__yaml_parse(text, strlen(text), "f", &yaml, &err), TACIT_SYNTAX);
    assert_null(yaml);
    (void)snprintf(answer, CASE_TEXT, "%s", err.message);
}

TEST(a_tree_keeps_order_lines_and_quotes)
{
    SCOPED(tacit__yaml) *yaml = parse("# a note\na: 1\nb: [x, 'y', \"\"]\nc:\n  d:\n    e: ~\n");
    const tacit__node *root = tacit__yaml_root(yaml);
    assert_int_equal(root->kind, TACIT__MAP);
    assert_int_equal(root->n_children, 3);
    const tacit__node *a = root->first, *b = a->next, *c = b->next;
    assert_null(c->next);
    assert_string_equal(a->key, "a");
    assert_string_equal(a->text, "1");
    assert_true(a->plain);
    assert_int_equal(a->line, 2);
    assert_int_equal(b->kind, TACIT__LIST);
    assert_int_equal(b->n_children, 3);
    assert_string_equal(b->first->text, "x");
    assert_false(b->first->next->plain);
    assert_string_equal(b->first->next->next->text, "");
    assert_false(tacit__node_is_null(b->first->next->next));
    assert_int_equal(c->line, 4);
    const tacit__node *d = tacit__node_get(c, "d"), *e = tacit__node_get(d, "e");
    assert_int_equal(d->line, 5);
    assert_int_equal(e->line, 6);
    assert_true(tacit__node_is_null(e));
    assert_null(tacit__node_get(root, "z"));
    assert_string_equal(tacit__yaml_name(yaml), "f");
}

TEST(what_is_not_yaml_is_refused_with_its_line)
{
    cases_run("unit/cases/yaml", NULL, refuse);
    assert_refused("\xff\xfe\xfd", 3, "f:1: not YAML: ");
}

TEST(what_is_too_large_is_refused)
{
    SCOPED_FREE char *text = malloc(TACIT__YAML_MAX_BYTES + 1);
    assert_non_null(text);
    memset(text, '#', TACIT__YAML_MAX_BYTES + 1);
    assert_refused(text, TACIT__YAML_MAX_BYTES + 1, "f: the file is larger than 262144 bytes");
    assert_refused(text, TACIT__YAML_MAX_BYTES, "f: the file is empty");
    size_t n = 0;
    for (int i = 0; i < TACIT__YAML_MAX_CHILDREN; i++)
        n += (size_t)sprintf(text + n, "- %d\n", i);
    tacit__yaml *yaml = parse(text);
    assert_int_equal(tacit__yaml_root(yaml)->n_children, TACIT__YAML_MAX_CHILDREN);
    tacit__yaml_destroy(yaml);
    n += (size_t)sprintf(text + n, "- x\n");
    assert_refused(text, n, "f:1001: the list that begins in line 1 has more than 1000 entries");
}

TEST(a_message_is_one_line_whatever_the_file_contains)
{
    SCOPED(tacit__yaml) *yaml = parse("a: \"b\\nc\"\n");
    const tacit__node *value = tacit__node_get(tacit__yaml_root(yaml), "a");
    tacit_error err;
    assert_status(tacit__yaml_fail(yaml, value->line, &err, TACIT_SYNTAX, "a is '%s'", value->text),
                  TACIT_SYNTAX);
    assert_string_equal(err.message, "f:1: a is 'b?c'");
}

TEST(unknown_keys_get_a_suggestion)
{
    SCOPED(tacit__yaml) *yaml = parse("seed: 1\nepisode: 2\n");
    static const char *const keys[] = {"episodes", "seed"};
    tacit_error err;
    assert_status(tacit__node_check_keys(tacit__yaml_root(yaml), "it", keys, 2, &err),
                  TACIT_SYNTAX);
    assert_string_equal(err.message, "f:2: it has no key 'episode', did you mean 'episodes'?");
}

TEST(the_nearest_word_is_at_most_two_slips_away)
{
    static const char *const words[] = {"epsilon", NULL, "delta", "a"};
    assert_string_equal(tacit__nearest("epsilom", words, 4), "epsilon");
    assert_string_equal(tacit__nearest("Dleta", words, 4), "delta");
    assert_null(tacit__nearest("omega", words, 4));
    assert_null(tacit__nearest("b", words, 4)); /* more than half of the word is wrong */
    assert_null(tacit__nearest("", words, 4));
    assert_null(tacit__nearest("a word that is longer than any key can ever be", words, 4));
}

TEST(files_that_cannot_be_read_are_named)
{
    tacit__yaml *yaml = NULL;
    tacit_error err;
    assert_status(tacit__yaml_read("no/such/file.yaml", "a letter", &yaml, &err),
                  TACIT_BAD_ARGUMENT);
    assert_string_equal(err.message, "no/such/file.yaml: cannot open: No such file or directory; "
                                     "expected a letter");
    assert_status(tacit__yaml_read(TACIT_TESTS_DIR, "a letter", &yaml, &err), TACIT_BAD_ARGUMENT);
    assert_non_null(strstr(err.message, ": is a directory, expected a letter"));
    assert_status(tacit__yaml_read(NULL, "a letter", &yaml, &err), TACIT_BAD_ARGUMENT);
    assert_null(yaml);
}

TEST(running_out_of_memory_is_told)
{
    static const char text[] = "a: [1, {b: 2}]\n";
    SCOPED(tacit__yaml) *yaml = NULL;
    tacit_error err;
    assert_survives_no_memory(tacit__yaml_parse(text, strlen(text), "f", &yaml, &err),
                              assert_null(yaml));
}
