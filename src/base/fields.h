/* One table of fields: what a value is called, what it may be, and where it goes. The options of the command and the keys of
 * files are read by such tables, and what messages say was expected comes from them. */
#ifndef TACIT_BASE_FIELDS_H
#define TACIT_BASE_FIELDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A number in [low, high), or (low, high) if `open`; ".inf" only if `infinite`. */
typedef struct tacit__range {
    double low, high;
    bool open, infinite;
    const char *expected; /* "a number >= 0, or .inf" */
} tacit__range;

typedef enum tacit__field_type {
    TACIT__FIELD_FLAG,  /* bool: yes or no */
    TACIT__FIELD_COUNT, /* uint64_t: a whole number in [low, high] */
    TACIT__FIELD_REAL,  /* double: a number in *range */
    TACIT__FIELD_WORD,  /* size_t: the index of one of `words` */
    TACIT__FIELD_TEXT, /* const char *, by reference: `low` to `high` bytes; `high` 0: any number */
    TACIT__FIELD_OTHER /* what `parse` makes of it; without that, the reader's own business */
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
    const char *example;  /* "users: 100000": it must be given, for example so; NULL: it need not */

    /* Of an option of the command. */
    char letter;       /* -j; 0: none */
    bool once;         /* a second one is refused; else the last one counts */
    bool written_out;  /* no abbreviation will do */
    const char *value; /* what its value is called in the help; NULL: it has none */
    const char *help;  /* lines after the first stand under it */
} tacit__field;

/* Reads the text as the field's value and puts it into the object. False: it is none, and the object is as it was. */
bool tacit__field_read(const tacit__field *field, const char *text, void *object);

/* "a whole number from 1 to 64", "tree, smooth or blt". Returns `out` or the field's own text. */
enum { TACIT__EXPECTED = 160 };
const char *tacit__field_expected(const tacit__field *field, char out[TACIT__EXPECTED]);

/* The words that it may be, NULL-terminated; NULL: it is no flag and no word. */
const char *const *tacit__field_words(const tacit__field *field);

/* The field's number in a table that a NULL name ends; SIZE_MAX: there is none of that name. */
size_t tacit__field_find(const tacit__field *fields, const char *name);

/* The name of the field that the word may have been meant for; NULL: none is near. */
const char *tacit__field_nearest(const tacit__field *fields, const char *word);

#endif
