/* A table of fields: the name of each value, what it may be, and where it is stored. The command's options,
 * the keys of files and the fields of HTTP bodies are read by such tables; messages take from them what was
 * expected. */
#ifndef TACIT_TEXT_FIELDS_H
#define TACIT_TEXT_FIELDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A number in [low, high), (low, high) if `open`, [low, high] if `closed`; ".inf" only if `infinite`. */
typedef struct tacit__range {
    double low, high;
    bool open, infinite, closed;
    const char *expected; /* "a number >= 0, or .inf"; NULL: what follows from the limits */
} tacit__range;

bool tacit__range_has(const tacit__range *range, double value);

typedef enum tacit__field_type {
    TACIT__FIELD_FLAG,    /* bool: yes or no, or the second and the first of `words` */
    TACIT__FIELD_COUNT,   /* uint64_t: a whole number in [low, high] */
    TACIT__FIELD_INTEGER, /* int64_t: a whole number in *range */
    TACIT__FIELD_REAL,    /* double: a number in *range */
    TACIT__FIELD_WORD,    /* size_t: the index of one of `words` */
    TACIT__FIELD_TEXT, /* const char *, by reference: `low` to `high` bytes; `high` 0: any number */
    TACIT__FIELD_MAP, /* an object of its own, with `fields`, that begins at `offset`; of files only */
    TACIT__FIELD_OTHER /* read by `parse`; if that is NULL, by the caller */
} tacit__field_type;

typedef struct tacit__field {
    const char *name; /* NULL ends a table */
    tacit__field_type type;
    size_t offset; /* of the value in the object that is filled */
    uint64_t low, high;
    const tacit__range *range;
    const char *const *words; /* NULL-terminated */
    bool (*parse)(const char *text, void *out);
    const char *expected; /* in messages; NULL: what follows from the type and its limits */
    const char *example;  /* "users: 100000": the field is required; NULL: optional */
    const char *fallback; /* the default, as text; NULL: the object keeps what it has */
    const struct tacit__field *fields;

    /* The name of an option of the command. */
    char letter;       /* -j; 0: none */
    bool once;         /* a second one is refused; else the last one counts */
    bool written_out;  /* must not be abbreviated */
    const char *value; /* the name of its value in the help; NULL: it takes none */
    const char *help;  /* further lines are printed under the first */
} tacit__field;

/* Stores the defaults of all fields. */
void tacit__fields_reset(const tacit__field *fields, void *object);

/* Reads the text as the field's value and stores it in the object. False: the text is not a value of the
 * field, and the object is unchanged. */
bool tacit__field_read(const tacit__field *field, const char *text, void *object);

/* "a whole number from 1 to 64", "tree, smooth or blt". Returns `out` or the field's own text. */
enum { TACIT__EXPECTED = 160 };
const char *tacit__field_expected(const tacit__field *field, char out[TACIT__EXPECTED]);

/* The same for a text that is no value of it, with what was probably intended: "tree, smooth or blt;
 * did you mean 'tree'?", "a whole number from 1 to 64; write 50". */
enum { TACIT__ADVICE = TACIT__EXPECTED + 64 };
const char *tacit__field_advice(const tacit__field *field, const char *text,
                                char out[TACIT__ADVICE]);

/* The words allowed as its value, NULL-terminated; NULL: the field is neither a flag nor a word. */
const char *const *tacit__field_words(const tacit__field *field);

/* The index of the field of this name in a table that a NULL name ends; SIZE_MAX: none. */
size_t tacit__field_find(const tacit__field *fields, const char *name);

/* The name of the field nearest to the word, for "did you mean"; NULL: none is near. */
const char *tacit__field_nearest(const tacit__field *fields, const char *word);

#endif
