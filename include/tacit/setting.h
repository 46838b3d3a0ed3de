/* Parameters of a kind of world or agent, and settings: the lines of a file that set them. */
#ifndef TACIT_SETTING_H
#define TACIT_SETTING_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum tacit_parameter_type {
    TACIT_PARAMETER_INTEGER, /* a whole number in [low, high] */
    TACIT_PARAMETER_REAL,    /* a finite number in [low, high] */
    TACIT_PARAMETER_FLAG,    /* yes or no */
    TACIT_PARAMETER_TEXT,    /* anything */
    TACIT_PARAMETER_FILE     /* the path of a file */
} tacit_parameter_type;

typedef struct tacit_parameter {
    const char *name;
    tacit_parameter_type type;
    /* The default, as text; "": leaving it out has a meaning of its own; NULL: must be given. */
    const char *fallback;
    double low, high; /* of numbers, both included */
    const char *help; /* one line */
} tacit_parameter;

/* The value of a parameter; its type decides which member is valid. */
typedef struct tacit_value {
    int64_t integer;
    double real; /* also of an integer */
    bool flag;
    const char *text; /* of the setting or the default, by reference */
    bool given;       /* by a setting */
    int line;         /* of the setting, or of the kind */
} tacit_value;

/* One line of a file: `key: value`. */
typedef struct tacit_setting {
    const char *key, *value;
    int line; /* in the file, for messages; 0: unknown */
} tacit_setting;

#ifdef __cplusplus
}
#endif

#endif
