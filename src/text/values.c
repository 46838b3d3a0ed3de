/* See text/values.h. Tables have some ten parameters and are read once for an agent: a search from
 * the front will do. */
#include "text/values.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"

const char *const tacit__auto_yes_no[] = {"auto", "yes", "no", NULL};

tacit_status tacit__values_read(const tacit_parameter *parameters, size_t n,
                                const tacit_setting *settings, size_t n_settings,
                                const tacit__origin *origin, tacit__values *out, tacit_error *err)
{
    TACIT__REQUIRE(n <= TACIT__MAX_PARAMETERS);
    *out = (tacit__values){.origin = *origin, .parameters = parameters, .n = n};
    return tacit__settings_read(parameters, n, settings, n_settings, origin, out->at, err);
}

const tacit__value *tacit__value_find(const tacit__values *v, const char *name)
{
    for (size_t i = 0; i < v->n; i++)
        if (strcmp(v->parameters[i].name, name) == 0)
            return &v->at[i];
    return NULL;
}

const tacit__value *tacit__value_of(const tacit__values *v, const char *name)
{
    const tacit__value *value = tacit__value_find(v, name);
    TACIT__REQUIRE(value != NULL);
    return value;
}

double tacit__value_real(const tacit__values *v, const char *name)
{
    return tacit__value_of(v, name)->real;
}

double tacit__value_or(const tacit__values *v, const char *name, double otherwise)
{
    const tacit__value *value = tacit__value_of(v, name);
    return value->given ? value->real : otherwise;
}

int tacit__value_choose(const tacit__values *v, const char *name, const char *const *choices,
                        tacit_error *err)
{
    TACIT__REQUIRE(choices != NULL && choices[0] != NULL);
    const char *text = tacit__value_of(v, name)->text;
    char list[160] = "";
    for (int i = 0; choices[i] != NULL; i++) {
        if (strcmp(choices[i], text) == 0)
            return i;
        size_t used = strlen(list);
        (void)snprintf(list + used, sizeof list - used, "%s%s", used > 0 ? ", " : "", choices[i]);
    }
    (void)tacit__value_fail(v, name, err, TACIT_BAD_ARGUMENT, "%s: %s is '%s', expected one of: %s",
                            v->origin.kind, name, text, list);
    return -1;
}

tacit_status tacit__value_fail(const tacit__values *v, const char *name, tacit_error *err,
                               tacit_status status, const char *format, ...)
{
    char message[sizeof err->message];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    return tacit__fail_at(err, status, v->origin.file, (size_t)tacit__value_of(v, name)->line, "%s",
                          message);
}
