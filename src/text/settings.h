/* From settings, which are text with line numbers, to the checked values of declared parameters. */
#ifndef TACIT_TEXT_SETTINGS_H
#define TACIT_TEXT_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tacit/setting.h>
#include <tacit/status.h>

enum { TACIT__MAX_PARAMETERS = 24 }; /* of a kind */

/* The place that settings come from, for messages: "FILE:LINE: ". */
typedef struct tacit__origin {
    const char *file; /* NULL: none */
    int line;         /* of the kind; 0: unknown */
    const char *kind; /* "riverswim" */
} tacit__origin;

typedef tacit_value tacit__value;

/* Fills values[n_parameters]. Unknown and repeated keys, wrong types, values out of range and missing ones
 * without a default are errors. */
TACIT_MUST_USE tacit_status tacit__settings_read(const tacit_parameter *parameters,
                                                 size_t n_parameters, const tacit_setting *settings,
                                                 size_t n_settings, const tacit__origin *origin,
                                                 tacit__value *values, tacit_error *err);

/* A failure with "FILE:LINE: " before it, as far as these are known. */
__attribute__((format(printf, 5, 6))) tacit_status tacit__fail_at(tacit_error *err,
                                                                  tacit_status status,
                                                                  const char *file, size_t line,
                                                                  const char *format, ...);
#ifdef __clang_analyzer__ /* as in base/error.h */
#define tacit__fail_at(err, status, ...) (tacit__fail_at(err, status, __VA_ARGS__), (status))
#endif

/* Returns whether the text may name a kind or a parameter: 1 to 64 lower-case letters, digits, dashes and
 * underscores. NULL is no name. */
bool tacit__is_name(const char *text);

/* Reads text[0 .. n), all of it, as a decimal number, in any locale. False: it is no number, or too
 * large. A real is finite. */
bool tacit__read_integer(const char *text, size_t n, int64_t *out);
/* A whole number as people write it in files and options: 50000, 50_000, 5e4, 2.5e3. Exact: 1e-1 is
 * none. */
bool tacit__read_whole(const char *text, size_t n, int64_t *out);
/* "; write 50000" for 50,000 and 50k, which read_whole refuses because they mean different things to
 * different people; "" for anything else. Returns `out`. */
enum { TACIT__WHOLE_HINT = 48 };
const char *tacit__whole_hint(const char *text, char out[TACIT__WHOLE_HINT]);
bool tacit__read_real(const char *text, size_t n, double *out);
/* yes or no, true or false, in any case. */
bool tacit__read_flag(const char *text, bool *out);

#endif
