#include "cli/progress.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { FIRST_LINE = 5, NEXT_LINE = 10, BAR = 24, COLUMNS = 80 }; /* seconds, seconds, characters */

void cli_progress_open(cli_progress *progress, bool quiet)
{
    const char *term = getenv("TERM");
    *progress = (cli_progress){.quiet = quiet, .next = FIRST_LINE};
    progress->terminal =
        isatty(STDERR_FILENO) == 1 && term != NULL && term[0] != '\0' && strcmp(term, "dumb") != 0;
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
    double rate = now->seconds > 0 ? (double)now->episodes / now->seconds : 0;
    if (rate >= 1e6)
        (void)snprintf(out, 32, "%.2fM episodes/s", rate / 1e6);
    else if (rate >= 1e4)
        (void)snprintf(out, 32, "%.0fk episodes/s", rate / 1e3);
    else
        (void)snprintf(out, 32, "%.3g episodes/s", rate);
    return out;
}

static void show_bar(cli_progress *progress, const tacit_lab_progress *now)
{
    char bar[BAR + 1], rate[32], left[24], line[160];
    struct winsize size;
    int columns = COLUMNS;
    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        columns = size.ws_col;
    int filled = (int)(share(now) * BAR);
    for (int i = 0; i < BAR; i++)
        bar[i] = i < filled ? '#' : '.';
    bar[BAR] = '\0';
    int width =
        snprintf(line, sizeof line, "[%s] %3.0f%%  %llu/%llu jobs  %s  %s left", bar,
                 100 * share(now), (unsigned long long)now->jobs, (unsigned long long)now->n_jobs,
                 rate_text(rate, now), clock_text(left, now->seconds_left));
    width = width < columns - 1 ? width : columns - 1;
    int blank = progress->width > width ? progress->width - width : 0;
    (void)fprintf(stderr, "\r%.*s%*s", width, line, blank, "");
    (void)fflush(stderr);
    progress->width = width;
}

void cli_progress_show(cli_progress *progress, const tacit_lab_progress *now)
{
    char rate[32], left[24];
    if (progress->quiet)
        return;
    if (progress->terminal) {
        show_bar(progress, now);
    } else if (now->seconds >= progress->next && now->jobs < now->n_jobs) {
        progress->next = now->seconds + NEXT_LINE;
        (void)fprintf(stderr, "tacit: %.0f%%, %llu of %llu jobs, %s, %s left\n", 100 * share(now),
                      (unsigned long long)now->jobs, (unsigned long long)now->n_jobs,
                      rate_text(rate, now), clock_text(left, now->seconds_left));
    }
}

void cli_progress_close(cli_progress *progress)
{
    if (progress->terminal && progress->width > 0)
        (void)fprintf(stderr, "\r%*s\r", progress->width, "");
    progress->width = 0;
}
