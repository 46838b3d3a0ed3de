#include "serve/routes.h"

#include <stdio.h>
#include <string.h>

/* What routes with an optional key say about it. */
#define KEY                                                                                        \
    "header `Idempotency-Key`, if wanted: 16 to 128 characters chosen at random. The same "        \
    "request "                                                                                     \
    "with the same key gets the same answer, also after a crash, until the episode expires or "    \
    "`limits.keys` others came later; it then waits for the disk once\n"
#define OUTSIDE                                                                                    \
    "; `outside`: true, if what was sent lay outside the learner's space and was cut into it "     \
    "(`outside: clip`)"
#define REUSED "422 `key_reused`: the key was used for another request"

const tacit__route tacit__routes[] = {
    {"POST", "/v1/episodes", TACIT__SCOPE_DECIDE, tacit__handle_open,
     "Opens an episode for a user. Nothing is kept until the first observation, but for the answer "
     "to a request with a key.",
     KEY
     "`learner`: its name; may be left out if there is one\n"
     "`user`: an opaque id, up to 256 bytes, kept as a keyed hash; a user takes part once in each "
     "learner",
     "201: `episode` (its id), `learner`, `horizon`, `expires` (seconds since 1970)\n"
     "409 `taken_part`: this user has taken part already\n" REUSED},
    {"POST", "/v1/episodes/{id}/decide", TACIT__SCOPE_DECIDE, tacit__handle_decide,
     "The action for the user's present situation, by the current billboard.",
     KEY
     "`state`: a whole number, or `context`: [actions x features] numbers, as the learner's space "
     "says\n"
     "`step`: from 0; may be left out: the first step that was not yet observed",
     "200: `action`, `probability` (of this action), `version` (of the policy), `step`, `decision` "
     "(its id)" OUTSIDE "\n"
     "410 `expired`: the episode is too old\n" REUSED},
    {"POST", "/v1/episodes/{id}/observe", TACIT__SCOPE_OBSERVE, tacit__handle_observe,
     "What came of a decision. Rewards may come later than the next decision, and in any order. A "
     "2xx means that it is on disk.",
     "`decision`: the id that decide gave; it is the idempotency key, and a header of that name is "
     "not looked at\n"
     "`reward`: from 0 to 1; may come in a later call\n"
     "`next_state` or `next_context`: where it led; needed for the last of several steps",
     "200: `status` is `open` (more is expected), `finished` (will be learned), or `full` (the "
     "budget is spent: not learned)" OUTSIDE "\n"
     "409 `contradiction`: it was told otherwise before; `taken_part`: the user did so in another "
     "episode\n"
     "410 `expired`"},
    {"POST", "/v1/decide", TACIT__SCOPE_DECIDE, tacit__handle_decide_once,
     "Opens an episode of one step and decides in it, for learners with horizon 1.",
     KEY "`learner`, `user`: as for episodes\n`state` or `context`: as for decide",
     "200: as for decide\n" REUSED},
    {"POST", "/v1/observe", TACIT__SCOPE_OBSERVE, tacit__handle_observe,
     "The same as observe above: the decision's id tells the episode.",
     "`decision`, `reward`, `next_state`, `next_context`: as above", "as above"},
    {"GET", "/v1/billboard", TACIT__SCOPE_OPEN, tacit__handle_billboard,
     "What anybody may read and act by: the policy, and under local privacy what a device needs to "
     "make its report. With an `ETag`, which is another one for every version and every learner; "
     "`If-None-Match` gives 304. May be cached for 5 seconds.",
     "`?learner=`: its name; may be left out if there is one",
     "200: `learner`, `version`, `users`, `episodes`, `model`, `guarantee`, `agent`, `space`, "
     "`monitor` (what the mean reward in a report costs, or null), `together`, and "
     "`policy` [horizon][states] or "
     "`mixed` [horizon][states][actions] where the billboard is a table; for local learners "
     "`tables`, what the service file declares (`rewards`, `mixture`, `features`, `weights`: "
     "numbers of 64 "
     "bits, low byte first, base64url), and `model_bytes`, base64url, where devices make their "
     "reports by a model"},
    {"POST", "/v1/reports", TACIT__SCOPE_REPORT, tacit__handle_report,
     "A privatised report, made by the user's own device (local privacy). A 2xx means that it is "
     "on disk.",
     "header `Idempotency-Key`: 16 to 128 characters chosen at random; the same key counts once\n"
     "`learner`: as above\n`report`: base64url",
     "202: `status` is `taken`, or `full` (the budget is spent: not learned), or `late` (the model "
     "that it was made by has been replaced: not learned)\n"
     "422 `report`: it was made for another learner, or no device can have made it\n" REUSED},
    {"GET", "/v1/learners", TACIT__SCOPE_READ, tacit__handle_learners,
     "All learners and how far they are.", "",
     "200: `learners`: `name`, `kind`, `model`, `limit`, `accepted`, `users`, `refused`, `left`, "
     "`version`, `learning`, `reason`, "
     "`reward`, `reward_error`. `refused` is always 0: who was acknowledged counts, and a number "
     "of "
     "those who do not would tell about one of them"},
    {"GET", "/v1/ledger", TACIT__SCOPE_READ, tacit__handle_ledger,
     "What was released, what it cost, what is left; as it is on disk.", "`?learner=`",
     "200: `learner`, `model`, `guarantee`, `agent`, `space`, `episodes`, `monitor`, `together`, "
     "then as for learners (`limit` to `reward_error`), and `releases`: `name`, `dimension`, "
     "`declared`, `passed`, `left`, `scale`; for local learners these are reports, and a `note` "
     "says so; `lives` and `adoptions` as in the guarantee"},
    {"GET", "/v1/guarantee", TACIT__SCOPE_READ, tacit__handle_guarantee,
     "What is promised and why: the release plan with sensitivities, reasons, noise scales, and "
     "what the accountant makes of them.",
     "`?learner=`",
     "200: `learner`, `model`, `guarantee`, `agent`, `space`, `episodes`, `plan` (null without "
     "privacy): `law`, `releases` (`name`, `dimension`, `steps`, `l1`, `l2`, `column_l1`, "
     "`column_l2`, `scale`, `reason`), `accounted`, `two_lives` (for a person in two "
     "continuations of one saved state); `monitor`, the same or null; `together` (learner and "
     "monitor), `sentences`, `remark`; `lives` (1, and one more for each adoption of the "
     "store), `adoptions` (`at`, `users`, `lives`), `in_all_lives` (for a person in all of them)"},
    {"GET", "/v1/history", TACIT__SCOPE_READ, tacit__handle_history,
     "Curves: version and released mean reward over users.", "`?learner=`",
     "200: `learner`, `points`: `users`, `at`, `version`, `reward` and its standard `error` (null "
     "without a monitor)"},
    {"GET", "/healthz", TACIT__SCOPE_OPEN, tacit__handle_health, "Whether the service serves.", "",
     "200: `status` is `ok`, `version` (of tacit), `store` (`fine`; `copy`, `behind`, `unsound` or "
     "`fenced`: it is decided from and not learned from); 503: `failing`, the store cannot be "
     "written"},
    {"GET", "/metrics", TACIT__SCOPE_READ, tacit__handle_metrics,
     "Figures in Prometheus' text format.", "", "200"},
    {"GET", "/", TACIT__SCOPE_OPEN, tacit__handle_page,
     "A page that shows learning and privacy live. It asks for a token with the scope read.", "",
     "200: HTML"},
};
const size_t tacit__n_routes = sizeof tacit__routes / sizeof *tacit__routes;

/* Whether the path is the pattern's; {id} takes one part, not empty. */
static bool matches(const char *pattern, const char *path, const char **id, size_t *id_length)
{
    *id = NULL;
    *id_length = 0;
    while (*pattern != '\0') {
        if (*pattern == '{') {
            *id = path;
            *id_length = strcspn(path, "/");
            if (*id_length == 0)
                return false;
            path += *id_length;
            pattern = strchr(pattern, '}') + 1;
        } else if (*pattern++ != *path++) {
            return false;
        }
    }
    return *path == '\0';
}

const tacit__route *tacit__route_find(const char *method, const char *path, const char **id,
                                      size_t *id_length, const char **allowed)
{
    *allowed = NULL;
    for (size_t i = 0; i < tacit__n_routes; i++) {
        const tacit__route *route = &tacit__routes[i];
        if (!matches(route->path, path, id, id_length))
            continue;
        if (strcmp(route->method, method) == 0 ||
            (strcmp(method, "HEAD") == 0 && strcmp(route->method, "GET") == 0))
            return route;
        *allowed = strcmp(route->method, "GET") == 0 ? "GET, HEAD" : route->method;
    }
    return NULL;
}

static const struct {
    const char *name, *help;
    unsigned bit;
} scopes[] = {{"decide", "open episodes and ask for actions", TACIT__SCOPE_DECIDE},
              {"observe", "tell rewards and next states", TACIT__SCOPE_OBSERVE},
              {"report", "send privatised reports", TACIT__SCOPE_REPORT},
              {"read", "look at ledger, guarantee, curves and metrics", TACIT__SCOPE_READ},
              {"admin", "all of these", TACIT__SCOPE_ADMIN}};
enum { N_SCOPES = sizeof scopes / sizeof *scopes };

const char *tacit__scope_name(unsigned scope)
{
    for (size_t i = 0; i < N_SCOPES; i++)
        if (scopes[i].bit == scope)
            return scopes[i].name;
    return "none";
}

bool tacit__scopes_read(const char *text, unsigned *out)
{
    *out = 0;
    while (*text != '\0') {
        size_t length = strcspn(text, ","), i = 0;
        while (i < N_SCOPES &&
               (strlen(scopes[i].name) != length || memcmp(scopes[i].name, text, length) != 0))
            i++;
        if (i == N_SCOPES)
            return false;
        *out |= scopes[i].bit;
        text += length;
        if (*text == ',' && *++text == '\0')
            return false;
    }
    return *out != 0;
}

const char *tacit__scopes_write(unsigned bits, char out[64])
{
    size_t used = 0;
    out[0] = '\0';
    for (size_t i = 0; i < N_SCOPES; i++)
        if (bits & scopes[i].bit)
            used += (size_t)snprintf(out + used, 64 - used, "%s%s", used > 0 ? "," : "",
                                     scopes[i].name);
    return out;
}

/* --- The reference page ------------------------------------------------------------------------- */

static void put_lines(tacit__text *out, const char *title, const char *lines)
{
    if (lines[0] == '\0')
        return;
    tacit__text_print(out, "%s:\n\n", title);
    while (*lines != '\0') {
        size_t length = strcspn(lines, "\n");
        tacit__text_put(out, "- ");
        tacit__text_add(out, lines, length);
        tacit__text_put(out, "\n");
        lines += length + (lines[length] == '\n');
    }
    tacit__text_put(out, "\n");
}

void tacit__routes_reference(tacit__text *out)
{
    tacit__text_put(
        out,
        "# HTTP interface of the decision service\n"
        "\n"
        "<!-- Made by `tacit serve --reference` from the table of routes; do not edit. -->\n"
        "\n"
        "HTTP/1.1, JSON in both directions, UTF-8. How to set up a service is in "
        "[serve.md](../how-to/serve.md), what it "
        "promises in [service.md](../why/service.md).\n"
        "\n"
        "## Who may\n"
        "\n"
        "`Authorization: Bearer TOKEN`, with a token that `tacit token create` has shown. Scopes:\n"
        "\n"
        "| scope | allows to |\n"
        "|---|---|\n");
    for (size_t i = 0; i < N_SCOPES; i++)
        tacit__text_print(out, "| `%s` | %s |\n", scopes[i].name, scopes[i].help);
    tacit__text_put(out, "\n## Routes\n\n| method and path | scope |\n|---|---|\n");
    for (size_t i = 0; i < tacit__n_routes; i++)
        tacit__text_print(out, "| `%s %s` | %s |\n", tacit__routes[i].method, tacit__routes[i].path,
                          tacit__scope_name(tacit__routes[i].scope));
    for (size_t i = 0; i < tacit__n_routes; i++) {
        const tacit__route *route = &tacit__routes[i];
        tacit__text_print(out, "\n### %s %s\n\n", route->method, route->path);
        tacit__text_put(out, route->summary);
        tacit__text_put(out, "\n\n");
        put_lines(out, "Asks", route->asks);
        put_lines(out, "Answers", route->answers);
        out->length -= out->length > 0 && out->data[out->length - 1] == '\n';
    }
    tacit__text_put(
        out, "\n## Errors\n"
             "\n"
             "`{\"error\": {\"code\": ..., \"field\": ..., \"message\": ...}}`; `field` only where "
             "one is to blame. Nothing that was sent is "
             "repeated.\n"
             "\n"
             "| status | when |\n"
             "|---|---|\n"
             "| 400 | the body is not JSON, or the request not HTTP |\n"
             "| 401 | there is no token, or nobody knows it |\n"
             "| 403 | the token has not the scope |\n"
             "| 404 | there is no such route, learner or episode |\n"
             "| 405 | the route has another method, which `Allow` names |\n"
             "| 409 | it contradicts what was said before, or the user has taken part |\n"
             "| 410 | the episode is too old |\n"
             "| 413 | the body is too large |\n"
             "| 422 | a field is missing, unknown or out of range; nothing has changed |\n"
             "| 429 | the token asks too often; `Retry-After` says when to come back |\n"
             "| 503 | the store cannot be written, or is full, or the service stops; nothing was "
             "acknowledged |\n"
             "\n"
             "What is not HTTP/1.0 or HTTP/1.1 as libmicrohttpd reads it is answered by "
             "libmicrohttpd, in HTML: 400, 413, 414, 431, 505. "
             "It closes the connection afterwards, or closes it without an answer.\n");
}
