/* Values of parameters by their names. */
#include "text/values.h"

#include "support/check.h"

static const tacit_parameter parameters[] = {
    {"scale", TACIT_PARAMETER_REAL, "0.5", 0, 10, ""},
    {"norm", TACIT_PARAMETER_REAL, "", 0, 1, ""},
    {"pooled", TACIT_PARAMETER_TEXT, "auto", 0, 0, ""},
};
static const tacit__origin origin = {"f.yaml", 3, "kind"};

static tacit__values read(const tacit_setting *settings, size_t n)
{
    tacit__values v;
    tacit_error err;
    assert_ok(
        tacit__values_read(parameters, TACIT__COUNT(parameters), settings, n, &origin, &v, &err));
    return v;
}

TEST(a_value_has_the_name_of_its_parameter)
{
    const tacit_setting settings[] = {{"norm", "0.25", 7}, {"pooled", "no", 8}};
    tacit__values v = read(settings, 2);
    assert_true(tacit__value_real(&v, "scale") == 0.5 && tacit__value_real(&v, "norm") == 0.25);
    assert_string_equal(tacit__value_of(&v, "pooled")->text, "no");
    assert_int_equal(tacit__value_of(&v, "pooled")->line, 8);
    assert_ptr_equal(tacit__value_find(&v, "scale"), &v.at[0]);
    assert_null(tacit__value_find(&v, "bonus"));
}

TEST(what_is_not_given_may_have_another_default)
{
    tacit__values v = read(NULL, 0);
    assert_true(tacit__value_or(&v, "norm", 0.7) == 0.7 && tacit__value_or(&v, "scale", 2) == 2);
    const tacit_setting settings[] = {{"scale", "3", 7}};
    v = read(settings, 1);
    assert_true(tacit__value_or(&v, "scale", 2) == 3);
}

TEST(a_choice_is_one_of_the_list_or_an_error_at_its_line)
{
    tacit_error err;
    tacit__values v = read(NULL, 0);
    assert_int_equal(tacit__value_choose(&v, "pooled", tacit__auto_yes_no, &err), TACIT__AUTO);
    const tacit_setting settings[] = {{"pooled", "maybe", 9}};
    v = read(settings, 1);
    assert_int_equal(tacit__value_choose(&v, "pooled", tacit__auto_yes_no, &err), -1);
    assert_int_equal(err.status, TACIT_BAD_ARGUMENT);
    assert_string_equal(err.message,
                        "f.yaml:9: kind: pooled is 'maybe', expected one of: auto, yes, no");
}
