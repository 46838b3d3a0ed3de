/* The checked values of a kind's parameters, found by their names.
 *
 * A name that is not in the table is a mistake in the program, and stops it; every kind is created in
 * tests. */
#ifndef TACIT_TEXT_VALUES_H
#define TACIT_TEXT_VALUES_H

#include "text/settings.h"

#define TACIT__COUNT(array) (sizeof(array) / sizeof *(array))

typedef struct tacit__values {
    tacit__origin origin; /* for messages */
    const tacit_parameter *parameters;
    size_t n;
    tacit__value at[TACIT__MAX_PARAMETERS]; /* at[i] is the value of parameters[i] */
} tacit__values;

/* Reads settings into values; see tacit__settings_read. */
TACIT_MUST_USE tacit_status tacit__values_read(const tacit_parameter *parameters, size_t n,
                                               const tacit_setting *settings, size_t n_settings,
                                               const tacit__origin *origin, tacit__values *out,
                                               tacit_error *err);

/* The value of this name. `find` returns NULL where the kind has no such parameter. */
const tacit__value *tacit__value_find(const tacit__values *values, const char *name);
const tacit__value *tacit__value_of(const tacit__values *values, const char *name);

/* A number; and a number if it was given, or else another one. */
double tacit__value_real(const tacit__values *values, const char *name);
double tacit__value_or(const tacit__values *values, const char *name, double otherwise);

/* The index of a text among the choices, a NULL-terminated list; -1 with an error. */
int tacit__value_choose(const tacit__values *values, const char *name, const char *const *choices,
                        tacit_error *err);

/* {"auto", "yes", "no", NULL} */
enum { TACIT__AUTO, TACIT__YES, TACIT__NO };
extern const char *const tacit__auto_yes_no[];

/* A failure at the line of a value. */
__attribute__((format(printf, 5, 6))) tacit_status tacit__value_fail(const tacit__values *values,
                                                                     const char *name,
                                                                     tacit_error *err,
                                                                     tacit_status status,
                                                                     const char *format, ...);

#endif
