/* What tests leave in /tmp when they are killed: removed by the next one, but nothing that somebody still needs. */
#include "support/scratch.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "support/check.h"
#include "support/server.h"

static const char prefix[] = "tacit-scratch-";

static bool is_there(const char *path)
{
    return access(path, F_OK) == 0;
}

static void make_old(const char *path)
{
    struct timespec times[2];
    (void)clock_gettime(CLOCK_REALTIME, &times[0]);
    times[0].tv_sec -= 2 * SCRATCH_KEPT_S;
    times[1] = times[0];
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

/* A directory whose program waits to be killed. */
static pid_t make_elsewhere(char path[SCRATCH_PATH])
{
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    const pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        scratch_make(prefix, path);
        make_old(path);
        if (write(ends[1], path, SCRATCH_PATH) != SCRATCH_PATH)
            _exit(1);
        for (;;)
            (void)pause();
    }
    assert_int_equal(read(ends[0], path, SCRATCH_PATH), SCRATCH_PATH);
    (void)close(ends[0]);
    (void)close(ends[1]);
    return pid;
}

static void end(pid_t pid)
{
    (void)kill(pid, SIGKILL);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
}

TEST(what_a_killed_program_leaves_is_removed)
{
    char own[SCRATCH_PATH], running[SCRATCH_PATH], killed[SCRATCH_PATH], recent[SCRATCH_PATH];
    scratch_make(prefix, own);
    make_old(own);
    const pid_t first = make_elsewhere(running), second = make_elsewhere(killed),
                third = make_elsewhere(recent);
    assert_shell("echo >'%s/file'", killed);
    make_old(killed);
    end(second);
    end(third);
    assert_shell("echo >'%s/file'", recent); /* somebody may want to look at it */
    scratch_sweep(prefix);
    assert_false(is_there(killed));
    assert_true(is_there(own) && is_there(running) && is_there(recent));
    end(first);
    make_old(recent);
    scratch_sweep(prefix);
    assert_false(is_there(running) || is_there(recent));
    assert_true(is_there(own));
    scratch_remove(own);
    assert_false(is_there(own));
}

/* A program that calls itself a server in this directory; its number is where PostgreSQL writes its own. */
static void start_server(const char *path, bool orphan)
{
    assert_shell("mkdir '%s/data'", path);
    const char *data = fmt("%s/data", path), *note = fmt("%s/postmaster.pid", data);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        if (orphan && fork() != 0)
            _exit(0);
        FILE *file = fopen(note, "w");
        if (file == NULL || fprintf(file, "%d\n", (int)getpid()) < 0 || fclose(file) != 0)
            _exit(1);
        (void)execl("/bin/sh", "sh", "-c", "while :; do sleep 1; done", "postgres", "-D", data,
                    (char *)NULL);
        _exit(127);
    }
    if (orphan)
        assert_int_equal(waitpid(pid, NULL, 0), pid);
    await(shell("pid=$(cat '%s' 2>/dev/null) && grep -q postgres /proc/$pid/cmdline", note) == 0);
    make_old(path);
}

static pid_t read_pid(const char *path, pid_t *parent)
{
    int pid = 0, above = 0;
    FILE *out = popen(
        fmt("pid=$(cat '%s/data/postmaster.pid') && cut -d' ' -f1,4 /proc/$pid/stat", path), "r");
    assert_true(out != NULL && fscanf(out, "%d %d", &pid, &above) == 2 && pid > 1);
    (void)pclose(out);
    *parent = above;
    return pid;
}

TEST(a_server_whose_program_lives_is_left_alone)
{
    char path[SCRATCH_PATH];
    pid_t parent;
    end(make_elsewhere(path));
    start_server(path, false);
    const pid_t left = read_pid(path, &parent);
    assert_int_equal(parent, getpid());
    scratch_sweep(prefix);
    assert_true(is_there(path));
    end(left);
    scratch_sweep(prefix); /* the number is nobody's */
    assert_false(is_there(path));
}

TEST(a_server_that_was_left_is_ended)
{
    char path[SCRATCH_PATH];
    pid_t parent;
    end(make_elsewhere(path));
    start_server(path, true);
    const pid_t left = read_pid(path, &parent);
    scratch_sweep(prefix);
    assert_int_equal(is_there(path), parent != 1); /* another one than init may have adopted it */
    if (parent != 1) {
        (void)kill(left, SIGKILL);
        scratch_remove(path);
    }
}
