/* See plays.h. */
#include "board/plays.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/error.h"

static struct tacit__plays_line *next_line(tacit__plays *plays, const char *name)
{
    TACIT__REQUIRE(plays->n < TACIT__MOST_PLAYS && name != NULL);
    struct tacit__plays_line *line = &plays->at[plays->n++];
    (void)snprintf(line->name, sizeof line->name, "%s", name);
    return line;
}

void tacit__plays_number(tacit__plays *plays, const char *name, double printed, double played,
                         const char *note, ...)
{
    struct tacit__plays_line *line = next_line(plays, name);
    line->printed = printed;
    line->played = played;
    if (!isnan(printed))
        (void)snprintf(line->printed_words, sizeof line->printed_words, "%.7g", printed);
    if (!isnan(played))
        (void)snprintf(line->played_words, sizeof line->played_words, "%.7g", played);
    va_list arguments;
    va_start(arguments, note);
    (void)vsnprintf(line->note, sizeof line->note, note, arguments);
    va_end(arguments);
}

void tacit__plays_words(tacit__plays *plays, const char *name, const char *printed,
                        const char *played, const char *note, ...)
{
    struct tacit__plays_line *line = next_line(plays, name);
    line->printed = line->played = (double)NAN;
    (void)snprintf(line->printed_words, sizeof line->printed_words, "%s", printed);
    (void)snprintf(line->played_words, sizeof line->played_words, "%s", played);
    va_list arguments;
    va_start(arguments, note);
    (void)vsnprintf(line->note, sizeof line->note, note, arguments);
    va_end(arguments);
}
