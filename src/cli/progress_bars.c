/* On a terminal: a bar for each job that is being played, as many as fit, and one for the whole with rate
 * and time left. They are drawn over each other, from the bottom line upwards and back. Elsewhere a line
 * every few seconds, and no control characters. */
#include "cli/progress_bars.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/error.h"
#include "cli/experiment_text.h"

/* Seconds, seconds, characters; and the terminal that is assumed where none can be asked. */
enum { FIRST_LINE = 5, NEXT_LINE = 10, BAR = 24, COLUMNS = 80, ROWS = 24, LINE = 512 };

void cli_progress_open(cli_progress *progress, bool quiet, const tacit_experiment_facts *facts)
{
    TACIT__REQUIRE(progress != NULL && facts != NULL);
    const char *term = getenv("TERM"), *no_color = getenv("NO_COLOR");
    *progress = (cli_progress){.facts = facts, .quiet = quiet, .next = FIRST_LINE};
    progress->terminal =
        isatty(STDERR_FILENO) == 1 && term != NULL && term[0] != '\0' && strcmp(term, "dumb") != 0;
    progress->color = progress->terminal && (no_color == NULL || no_color[0] == '\0');
}

static const char *clock_text(char out[24], double seconds)
{
    if (isnan(seconds) || seconds > 1e7) {
        (void)snprintf(out, 24, "?");
        return out;
    }
    long s = lround(seconds);
    if (s >= 3600)
        (void)snprintf(out, 24, "%ld:%02ld:%02ld", s / 3600, s / 60 % 60, s % 60);
    else
        (void)snprintf(out, 24, "%ld:%02ld", s / 60, s % 60);
    return out;
}

static double share(const tacit_lab_progress *now)
{
    return now->n_episodes > 0 ? (double)now->episodes / (double)now->n_episodes
                               : (double)now->jobs / (double)now->n_jobs;
}

static const char *rate_text(char out[32], const tacit_lab_progress *now)
{
    double played = (double)(now->episodes - now->earlier);
    double rate = now->seconds > 0 ? played / now->seconds : 0;
    if (rate >= 1e6)
        (void)snprintf(out, 32, "%.2fM episodes/s", rate / 1e6);
    else if (rate >= 1e4)
        (void)snprintf(out, 32, "%.0fk episodes/s", rate / 1e3);
    else
        (void)snprintf(out, 32, "%.3g episodes/s", rate);
    return out;
}

/* --- A terminal ---------------------------------------------------------------------------------- */

/* One line: a bar and a text, cut at the width of the terminal. A character takes a column; that some take
 * two is allowed for by the margin. */
static void draw_line(const cli_progress *progress, int columns, double part, const char *text,
                      const char *color)
{
    char bar[BAR + 1];
    int filled = (int)(part * BAR);
    for (int i = 0; i < BAR; i++)
        bar[i] = i < filled ? '#' : '.';
    bar[BAR] = '\0';
    size_t room = columns > BAR + 12 ? (size_t)columns - BAR - 11 : 1, bytes = 0, width = 0;
    while (text[bytes] != '\0') {
        width += ((unsigned char)text[bytes] & 0xc0) != 0x80;
        if (width > room)
            break;
        bytes++;
    }
    (void)fprintf(stderr, "\r%s[%s]%s %3.0f%%  %.*s\033[K\n", progress->color ? color : "", bar,
                  progress->color ? "\033[0m" : "", 100 * part, (int)bytes, text);
}

static void job_text(const cli_progress *progress, const tacit_lab_running *job, char out[LINE])
{
    const tacit_experiment_facts *facts = progress->facts;
    const char *agent = facts->agents[job->agent].label;
    if (facts->n_worlds > 1)
        (void)snprintf(out, LINE, "%s, run %llu, %s", agent, (unsigned long long)job->run + 1,
                       facts->worlds[job->world].label);
    else
        (void)snprintf(out, LINE, "%s, run %llu", agent, (unsigned long long)job->run + 1);
}

static void go_up(cli_progress *progress)
{
    if (progress->lines > 0)
        (void)fprintf(stderr, "\033[%dA\r", progress->lines);
}

static void draw(cli_progress *progress, const tacit_lab_progress *now)
{
    char rate[32], left[24], text[LINE];
    struct winsize size;
    int columns = COLUMNS, rows = ROWS;
    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 && size.ws_row > 0) {
        columns = size.ws_col;
        rows = size.ws_row;
    }
    size_t most = rows > 3 ? (size_t)rows - 3 : 0;
    size_t n = now->n_running < most ? now->n_running : most;
    go_up(progress);
    for (size_t i = 0; i < n; i++) {
        job_text(progress, &now->running[i], text);
        draw_line(progress, columns,
                  (double)now->running[i].episodes / (double)progress->facts->episodes, text,
                  "\033[36m");
    }
    char more[48] = "";
    if (n < now->n_running)
        (void)snprintf(more, sizeof more, ", %zu more running", now->n_running - n);
    (void)snprintf(text, sizeof text, "%llu/%llu jobs  %s  %s left%s",
                   (unsigned long long)now->jobs, (unsigned long long)now->n_jobs,
                   rate_text(rate, now), clock_text(left, now->seconds_left), more);
    draw_line(progress, columns, share(now), text, "\033[32m");
    (void)fputs("\033[J", stderr); /* lines of jobs that are no longer there */
    (void)fflush(stderr);
    progress->lines = (int)n + 1;
}

/* --- Both ---------------------------------------------------------------------------------------- */

void cli_progress_show(cli_progress *progress, const tacit_lab_progress *now)
{
    char rate[32], left[24];
    if (progress->quiet)
        return;
    if (progress->terminal) {
        draw(progress, now);
    } else if (now->seconds >= progress->next && now->jobs < now->n_jobs) {
        progress->next = now->seconds + NEXT_LINE;
        (void)fprintf(stderr, "tacit: %.0f%%, %llu of %llu jobs, %s, %s left\n", 100 * share(now),
                      (unsigned long long)now->jobs, (unsigned long long)now->n_jobs,
                      rate_text(rate, now), clock_text(left, now->seconds_left));
    }
}

void cli_progress_close(cli_progress *progress)
{
    if (progress->lines > 0) {
        go_up(progress);
        (void)fputs("\033[J", stderr);
        (void)fflush(stderr);
    }
    progress->lines = 0;
}
