/* The objects of the HTTP interface, its errors and its headers. How rows are written is in
 * serve/http/routes.h. */
#include "serve/http/routes.h"

#include <string.h>

#define FIELDS(...) ((const tacit__member[]){__VA_ARGS__, {0}})
#define OPTIONAL TACIT__OPTIONAL
#define REQUIRED 0

#define LEARNER                                                                                    \
    {                                                                                              \
        "learner", "text 1..64", OPTIONAL, "its name; optional if the service has one learner"     \
    }
#define USER                                                                                       \
    {                                                                                              \
        "user", "text 1..256", OPTIONAL,                                                           \
            "an opaque id, stored as a keyed hash. A learner learns from each user once, or in "   \
            "as many visits as it declares, and always decides for them. The id is used as it "    \
            "is: another spelling is another user. Required if the learner's space has "           \
            "`user: required`, as with `visits`"                                                   \
    }
#define STATE                                                                                      \
    {                                                                                              \
        "state", "number", OPTIONAL,                                                               \
            "for learners with states: a whole number; with `outside: clip`, any number"           \
    }
#define CONTEXT                                                                                    \
    {                                                                                              \
        "context", "[number] | {number | text | null}", OPTIONAL,                                  \
            "actions x features numbers, or the features alone, as the learner's space says; "     \
            "if it names columns, an object with their values, for example `{\"age\": 41, "        \
            "\"country\": \"DE\"}`"                                                                \
    }
#define OUTSIDE                                                                                    \
    {                                                                                              \
        "outside", "true", OPTIONAL,                                                               \
            "present if the data were outside the learner's space and were moved to its "          \
            "boundary (`outside: clip`)"                                                           \
    }
#define UNLEARNED                                                                                  \
    {"learned", "false", OPTIONAL, "present if the learner will not learn from the outcome"},      \
    {                                                                                              \
        "reason", "'taken_part' | 'visits_used' | 'full' | 'closed'", OPTIONAL,                    \
            "why not. `taken_part`: the user took part in another episode; `visits_used`: they "   \
            "have had all their visits; `full`: the learner has had all its users; `closed`: the " \
            "store must not learn, for example because it is a copy"                               \
    }
#define STEP                                                                                       \
    {                                                                                              \
        "step", "count", REQUIRED, "the step of the decision, from 0"                              \
    }

/* --- What is asked ------------------------------------------------------------------------------ */

const tacit__object_shape tacit__shape_new_episode = {
    "NewEpisode", "The learner and the user of an episode.", FIELDS(LEARNER, USER)};

const tacit__object_shape tacit__shape_decide = {
    "Situation", "The situation of a user: `state` or `context`.",
    FIELDS(
        STATE, CONTEXT,
        {"step", "count", OPTIONAL, "from 0; default: the first step that was not observed yet"})};

const tacit__object_shape tacit__shape_decide_once = {
    "OneDecision", "An episode of one step: the user and the situation.",
    FIELDS(LEARNER, USER, STATE, CONTEXT)};

const tacit__object_shape tacit__shape_observe = {
    "Observation", "The outcome of a decision.",
    FIELDS({"decision", "text", REQUIRED,
            "the id that decide returned; it is the idempotency key, and an Idempotency-Key header "
            "is ignored"},
           {"reward", "number", OPTIONAL,
            "from 0 to 1, or in the range of the space; with `outside: clip`, any number; a later "
            "call may send it"},
           {"next_state", "number", OPTIONAL,
            "for learners with states: the next state; required for the last of several steps"},
           {"next_context", "[number] | {number | text | null}", OPTIONAL,
            "for learners with contexts: the next context"},
           {"done", "flag", OPTIONAL,
            "true: the episode ended with this step, in the next state or context, which is then "
            "required here or in another call about this step"})};

const tacit__object_shape tacit__shape_report = {
    "Report", "A privatized report.",
    FIELDS(LEARNER,
           {"report", "base64url", REQUIRED,
            "what the device made; its last 16 bytes are random and differ in every report"},
           {"user", "text 1..256", OPTIONAL,
            "of a learner with `visits`: whose device it is, stored as a keyed hash. Without it "
            "the service does not count this person's reports; the device does"})};

/* --- What is answered --------------------------------------------------------------------------- */

static const tacit__object_shape episode = {
    "Episode", "An open episode.",
    FIELDS(
        {"episode", "text", REQUIRED, "its id"}, {"learner", "text", REQUIRED, "its name"},
        {"horizon", "count", REQUIRED, "number of steps"},
        {"expires", "count", REQUIRED,
         "seconds since 1970; an estimate, because time while the service is down does not count"},
        UNLEARNED)};

static const tacit__object_shape decision = {
    "Decision", "The action to take.",
    FIELDS({"action", "count | text", REQUIRED, "from 0, or its name if actions have names"},
           {"probability", "number 0..1", REQUIRED, "of this action"},
           {"version", "count", REQUIRED, "of the policy"}, STEP,
           {"decision", "text", REQUIRED, "its id, for observe"}, OUTSIDE, UNLEARNED)};

static const tacit__object_shape observed = {
    "Observed", "What the service did with an observation.",
    FIELDS({"status", "'open' | 'finished' | 'full' | 'taken_part' | 'visits_used' | 'too_soon'",
            REQUIRED,
            "`open`: the episode expects more; `finished`: the learner will learn from it; `full`: "
            "the budget is spent; `taken_part`: the user took part in another episode. Of a "
            "learner with `visits`: `visits_used`: the user has had all visits; `too_soon`: fewer "
            "than `apart` users have come since their last one. With the last four the learner "
            "learns nothing, and the service keeps none of the data"},
           STEP,
           {"learned", "flag", REQUIRED,
            "whether the learner learns from it, or will when the episode is finished in time"},
           {"reason", "'full' | 'taken_part' | 'visits_used' | 'too_soon'", OPTIONAL,
            "why it does not learn; present if `learned` is false"},
           OUTSIDE)};

static const tacit__object_shape one_of_many = {
    "OneOfMany", "The answer to one element of a batch.",
    FIELDS({"status", "count", REQUIRED, "as for a separate request"},
           {"body", "Decision | Observed | Error", REQUIRED, "as for a separate request"})};

static const tacit__object_shape reported = {
    "Reported", "What the service did with a report.",
    FIELDS({"status", "'taken' | 'full' | 'late' | 'visits_used' | 'too_soon'", REQUIRED,
            "`taken`: the learner will learn from it; `full`: the budget is spent, so it does not; "
            "`late`: the model behind the report was replaced, so it does not; `visits_used`, "
            "`too_soon`: `user` has sent as many reports as the learner has `visits`, or the last "
            "one fewer than `apart` users ago, so it does not"})};

static const tacit__object_shape guarantee = {
    "Guarantee", "Differential privacy.",
    FIELDS({"epsilon", "number", REQUIRED, "of the guarantee"},
           {"delta", "number 0..1", REQUIRED, "of the guarantee"})};

static const tacit__object_shape agent = {
    "Agent", "The algorithm that learns.",
    FIELDS({"kind", "text", REQUIRED, "as `tacit agents` names it"},
           {"sums", "text | null", REQUIRED,
            "the mechanism of private running sums; null: the default"},
           {"settings", "[[text]]", REQUIRED, "pairs of a key and a value"})};

static const tacit__object_shape space = {
    "Space", "The situations and actions that the service file declares.",
    FIELDS(
        {"states", "count", REQUIRED, "number of states"},
        {"actions", "count", REQUIRED, "number of actions"},
        {"horizon", "count", REQUIRED, "steps of an episode"},
        {"stationary", "flag", REQUIRED, "whether all steps are alike"},
        {"reward_low", "number", OPTIONAL, "the smallest reward; absent: 0"},
        {"reward_high", "number", OPTIONAL, "the largest reward; absent: 1"},
        {"features", "count", OPTIONAL, "of a context, for each action or shared"},
        {"shared", "flag", OPTIONAL, "whether one parameter serves all actions"},
        {"bound", "number", OPTIONAL, "of the features' norm"},
        {"simplex", "true", OPTIONAL, "features are weights that sum to 1"},
        {"complementary", "true", OPTIONAL, "of two actions, one is right and the other is wrong"},
        {"parameter_norm", "number", OPTIONAL, "bound on the norm of the unknown parameter"},
        {"weights", "true", OPTIONAL, "the distribution of the states is known"},
        {"context", "count", OPTIONAL, "numbers of a context"},
        {"kernel", "text", OPTIONAL, "of the learner"},
        {"parts", "count", OPTIONAL, "of the mixture"},
        {"action_names", "[text]", OPTIONAL, "in the order of their numbers"},
        {"columns", "[Column]", OPTIONAL, "of a context, in the order of its features"},
        {"intercept", "flag", OPTIONAL, "of named columns: the first feature is always 1"},
        {"unit", "flag", OPTIONAL,
         "of named columns: the features of every user are scaled to length 1"},
        {"user", "'required'", OPTIONAL, "present if every request needs a user id"})};

static const tacit__object_shape column = {
    "Column", "A column of a context: a range, or categories.",
    FIELDS({"name", "text", REQUIRED, "of the field in `context`"},
           {"low", "number", OPTIONAL, "the smallest number"},
           {"high", "number", OPTIONAL, "the largest number"},
           {"log", "true", OPTIONAL, "it is encoded on a logarithmic scale"},
           {"missing", "true", OPTIONAL, "the number may be missing"},
           {"categories", "[text]", OPTIONAL, "its possible values; none of them if it is missing"},
           {"others", "true", OPTIONAL, "other texts are accepted and encoded as missing"})};

static const tacit__object_shape about = {
    "About", "A learner and its guarantee.",
    FIELDS({"model", "'joint' | 'local' | 'none'", REQUIRED, "of privacy"},
           {"guarantee", "Guarantee | null", REQUIRED, "of the learner alone; null: no guarantee"},
           {"agent", "Agent", REQUIRED, "the algorithm"},
           {"space", "Space", REQUIRED, "of situations and actions"},
           {"episodes", "count", REQUIRED, "users that it was declared for"},
           {"visits", "count", OPTIONAL,
            "present if people may come back: one person is at most this many of the users"},
           {"apart", "count", OPTIONAL,
            "with `visits`: any two visits of one person are at least this many users apart"},
           {"log_decisions", "true", OPTIONAL,
            "present if the operator records decisions, which the guarantee does not cover"})};

static const tacit__object_shape costs = {
    "Costs", "Privacy costs beside the learner's own.",
    FIELDS({"monitor", "Guarantee | null", REQUIRED,
            "what the released mean reward costs; null: it is not released"},
           {"together", "Guarantee | null", REQUIRED,
            "learner and monitor, composed; null: no guarantee"})};

static const tacit__object_shape figures = {
    "Figures", "The progress of a learner.",
    FIELDS({"limit", "count", REQUIRED, "users that it was declared for"},
           {"accepted", "count", REQUIRED, "users acknowledged"},
           {"users", "count", REQUIRED, "users that it has learned from"},
           {"refused", "count", REQUIRED,
            "always 0: every acknowledged user counts, because a count of the others would reveal "
            "something about them"},
           {"left", "count", REQUIRED, "users until the budget is spent"},
           {"version", "count", REQUIRED, "of the billboard"},
           {"learning", "flag", REQUIRED, "whether it learns"},
           {"reason", "text | null", REQUIRED, "why it does not learn"},
           {"learns_here", "flag", REQUIRED,
            "whether this process learns; the other processes on the same database follow it"},
           {"reward", "number | null", REQUIRED, "mean reward, as released"},
           {"reward_error", "number | null", REQUIRED, "its standard error"})};

static const tacit__object_shape tables = {
    "Tables", "What the service file declares: numbers of 64 bits, low byte first.",
    FIELDS({"rewards", "base64url", OPTIONAL, "[horizon][states][actions]"},
           {"mixture", "base64url", OPTIONAL, "[states][actions][parts][states]"},
           {"features", "base64url", OPTIONAL, "[states][actions][features]"},
           {"weights", "base64url", OPTIONAL, "[states]"})};

static const tacit__object_shape billboard = {
    "Billboard", "The public policy.",
    FIELDS({"learner", "text", REQUIRED, "its name"},
           {"version", "count", REQUIRED, "of the policy"},
           {"users", "count", REQUIRED, "users that it was made from"},
           {"...", "About", REQUIRED, ""}, {"...", "Costs", REQUIRED, ""},
           {"tables", "Tables", OPTIONAL,
            "for local learners: what a device needs to make its report"},
           {"model_bytes", "base64url", OPTIONAL,
            "for local learners whose devices use a model to make their reports"},
           {"policy", "[[count]]", OPTIONAL,
            "[horizon][states]: the action, if the billboard is a table"},
           {"mixed", "[[[number 0..1]]]", OPTIONAL,
            "[horizon][states][actions]: probabilities, if the billboard is such a table"})};

static const tacit__object_shape learner = {
    "Learner", "A learner and its progress.",
    FIELDS({"name", "text", REQUIRED, "of the learner"}, {"kind", "text", REQUIRED, "of its agent"},
           {"model", "'joint' | 'local' | 'none'", REQUIRED, "of privacy"},
           {"...", "Figures", REQUIRED, ""})};

static const tacit__object_shape learners = {
    "Learners", "All learners.",
    FIELDS({"learners", "[Learner]", REQUIRED, "in the order of the service file"})};

static const tacit__object_shape passed = {
    "Passed", "A release and how often it has happened; for local learners it is in every report.",
    FIELDS({"name", "text", REQUIRED, "of the release"},
           {"dimension", "count", REQUIRED, "numbers in it"},
           {"declared", "count", REQUIRED, "steps that the plan declares"},
           {"passed", "count", REQUIRED, "steps that happened and are on disk"},
           {"left", "count", REQUIRED, "steps to come"},
           {"scale", "number | null", REQUIRED, "of the noise"})};

static const tacit__object_shape adoption = {
    "Adoption", "The service continued from a store whose original may have continued as well.",
    FIELDS({"at", "count", REQUIRED, "seconds since 1970"},
           {"users", "count", REQUIRED, "users that the learner had learned from"},
           {"lives", "count", REQUIRED, "of the store from then on"})};

static const tacit__object_shape lives = {
    "Lives", "In how many lines the store may have continued.",
    FIELDS(
        {"lives", "count", REQUIRED,
         "the number of lines in which the store may have continued: 1, plus 1 for each adoption"},
        {"adoptions", "[Adoption]", REQUIRED, "all of them"},
        {"unsafe", "flag", REQUIRED,
         "whether the store was ever served on a database server without `fsync` or "
         "`full_page_writes` (`unsafe: yes`): a crash of that server may have taken back what was "
         "published, which costs as much as an adoption and was not noticed"})};

static const tacit__object_shape warm_start = {
    "WarmStart", "How far a learner was warmed up with a log.",
    FIELDS({"rows", "count", REQUIRED, "of the log"}, {"taken", "count", REQUIRED, "of these"},
           {"users", "count", REQUIRED, "of those taken, users that the learner learns from"})};

static const tacit__object_shape ledger = {
    "Ledger", "What was released, what it cost, and what is left.",
    FIELDS({"learner", "text", REQUIRED, "its name"}, {"...", "About", REQUIRED, ""},
           {"...", "Costs", REQUIRED, ""}, {"...", "Figures", REQUIRED, ""},
           {"releases", "[Passed]", REQUIRED, "by the learner, then by its monitor"},
           {"...", "Lives", REQUIRED, ""},
           {"warm_start", "WarmStart", OPTIONAL,
            "present if users of a log were taken; they are among `accepted`"},
           {"note", "text", OPTIONAL, "for local learners: what is counted"})};

static const tacit__object_shape release = {
    "Release", "A line of a release plan.",
    FIELDS({"name", "text", REQUIRED, "of the release"},
           {"dimension", "count", REQUIRED, "numbers in it"},
           {"steps", "count", REQUIRED, "the most times that it happens"},
           {"l1", "number | null", REQUIRED, "sensitivity in one step"},
           {"l2", "number | null", REQUIRED, "sensitivity in one step"},
           {"column_l1", "number | null", REQUIRED, "sensitivity of all steps of a user together"},
           {"column_l2", "number | null", REQUIRED, "sensitivity of all steps of a user together"},
           {"visits", "count", OPTIONAL,
            "present if people may come back: the sensitivities are those of this many visits"},
           {"apart", "count", OPTIONAL, "of these visits, in users"},
           {"scale", "number | null", REQUIRED, "of the noise"},
           {"reason", "text", REQUIRED, "for the sensitivities"})};

static const tacit__object_shape plan = {
    "Plan", "What is released, and what it costs by the accountant.",
    FIELDS({"law", "'gaussian' | 'laplace' | 'response' | 'none'", REQUIRED, "of the noise"},
           {"releases", "[Release]", REQUIRED, "all of them"},
           {"accounted", "Guarantee | null", REQUIRED, "what they cost together"},
           {"two_lives", "Guarantee | null", REQUIRED,
            "the same for a person in two continuations of one saved state"})};

static const tacit__object_shape person = {
    "Person",
    "What a person who takes part in everything that the service does, or did with this store, "
    "pays.",
    FIELDS(
        {"guarantee", "Guarantee | null", REQUIRED,
         "of all learners and monitors together, composed exactly; null: a learner has no "
         "guarantee, so such a person has none"},
        {"composed", "Guarantee | null", REQUIRED,
         "of those that have a guarantee; null: there are none"},
        {"devices", "Guarantee | null", REQUIRED,
         "of what devices send to local learners, toward the service as well; null: there are "
         "no local learners"},
        {"budget", "Guarantee | null", REQUIRED,
         "the most that the operator lets a person pay; null: there is no budget"},
        {"people", "'shared' | 'separate'", REQUIRED,
         "`separate`: the operator declares that nobody is in two learners, so the largest "
         "counts; the service cannot check this"},
        {"learners", "count", REQUIRED, "that were composed or have no guarantee"},
        {"exact", "count", REQUIRED, "of these, without a guarantee (model none)"},
        {"past", "count", REQUIRED, "of these, learners that had users and are no longer served"},
        {"sentences", "[text]", REQUIRED, "the same in words; the first has the numbers"})};

static const tacit__object_shape promise = {
    "Promise", "The guarantee and the reasons for it: first to one person, then by this learner.",
    FIELDS({"person", "Person", REQUIRED, "what one person pays for everything"},
           {"learner", "text", REQUIRED, "its name"}, {"...", "About", REQUIRED, ""},
           {"plan", "Plan | null", REQUIRED, "of the learner; null: without privacy"},
           {"monitor", "Plan | null", REQUIRED, "of the released mean reward; null: none"},
           {"together", "Guarantee | null", REQUIRED,
            "learner and monitor, composed; null: no guarantee"},
           {"sentences", "[text]", REQUIRED, "the guarantee in words"},
           {"remark", "text", REQUIRED, "about the agent"}, {"...", "Lives", REQUIRED, ""},
           {"in_all_lives", "Guarantee | null", REQUIRED,
            "for a person in all lives of the store; null: there is no number"})};

static const tacit__object_shape point = {
    "Point", "A point of the curves.",
    FIELDS({"users", "count", REQUIRED, "users that were learned from"},
           {"at", "count", REQUIRED, "seconds since 1970"},
           {"version", "count", REQUIRED, "of the billboard"},
           {"reward", "number | null", REQUIRED, "mean so far, as released; null: no monitor"},
           {"error", "number | null", REQUIRED, "standard error of the reward"})};

static const tacit__object_shape history = {
    "History", "The curves of a learner.",
    FIELDS({"learner", "text", REQUIRED, "its name"},
           {"points", "[Point]", REQUIRED, "at most 1,000, in the order of users"})};

#define REASONS                                                                                    \
    "'failing' | 'copy' | 'behind' | 'unsound' | 'fenced' | 'learner' | 'warming_up' | 'stopping'"

static const tacit__object_shape health = {
    "Health", "Whether the service is alive.",
    FIELDS({"status", "'ok' | " REASONS, REQUIRED, "`ok`, or the first reason of readyz"},
           {"version", "text", REQUIRED, "of tacit"})};

static const tacit__object_shape line = {
    "Line", "Two random names, by which monitoring sees whether a store is continued twice.",
    FIELDS({"store", "text", REQUIRED, "that of all copies of the store, for good"},
           {"start", "text", REQUIRED,
            "of a file: another one with every start of the service; of a database: another one "
            "with every start of the database server, and the same at all its front ends"})};

static const tacit__object_shape readiness = {
    "Readiness", "Whether the service can do all its work now.",
    FIELDS({"ready", "flag", REQUIRED, "whether `reasons` is empty"},
           {"reasons", "[" REASONS "]", REQUIRED,
            "`failing`: the store cannot be written; `copy`: the store is a copy; `behind`: it "
            "went back, or its mark is missing; `unsound`: its counts do not add up; `fenced`: "
            "another server took it over (with these four no learner learns); `learner`: a learner "
            "failed; `warming_up`: users of a log are still to come (warm_start); `stopping`: the "
            "service is stopping"},
           {"line", "Line", REQUIRED, "which store, and who continues it"})};

static const tacit__object_shape problem = {
    "Problem", "Why a request was refused.",
    FIELDS({"code", "text", REQUIRED, "one of the codes below"},
           {"field", "text", OPTIONAL, "the field that is wrong, if it is one"},
           {"message", "text", REQUIRED, "for people; repeats nothing of the request"})};

static const tacit__object_shape error = {"Error", "The body of every error.",
                                          FIELDS({"error", "Problem", REQUIRED, "what is wrong"})};

const tacit__object_shape *const tacit__shapes[] = {&tacit__shape_new_episode,
                                                    &tacit__shape_decide,
                                                    &tacit__shape_decide_once,
                                                    &tacit__shape_observe,
                                                    &tacit__shape_report,
                                                    &episode,
                                                    &decision,
                                                    &observed,
                                                    &one_of_many,
                                                    &reported,
                                                    &billboard,
                                                    &learners,
                                                    &learner,
                                                    &warm_start,
                                                    &ledger,
                                                    &passed,
                                                    &lives,
                                                    &adoption,
                                                    &person,
                                                    &promise,
                                                    &plan,
                                                    &release,
                                                    &history,
                                                    &point,
                                                    &health,
                                                    &line,
                                                    &readiness,
                                                    &about,
                                                    &costs,
                                                    &figures,
                                                    &guarantee,
                                                    &agent,
                                                    &space,
                                                    &column,
                                                    &tables,
                                                    &error,
                                                    &problem,
                                                    NULL};

/* --- Errors and headers ------------------------------------------------------------------------- */

const tacit__error_row tacit__errors[] = {
    {400, "host", TACIT__WHEN_ASKED, NULL, "an HTTP/1.1 request has no Host header"},
    {400, "length", TACIT__WHEN_ASKED, NULL, "the length of the body is ambiguous"},
    {400, "encoding", TACIT__WHEN_ASKED, NULL, "the Transfer-Encoding is not chunked"},
    {400, "header", TACIT__WHEN_ASKED, NULL,
     "a header that may appear once appears twice, its name is not valid, it has a control "
     "character, or it is folded or does not end with CR and LF"},
    {400, "path", TACIT__WHEN_ASKED, NULL,
     "the path or the query has control characters, or the query names a learner or a step twice"},
    {400, "not_json", TACIT__WHEN_BODY, NULL, "the body is not JSON"},
    {400, "not_an_object", TACIT__WHEN_BODY, NULL, "the body is JSON, but not an object"},
    {401, "token", TACIT__WHEN_TOKEN, "WWW-Authenticate", "there is no token, or it is unknown"},
    {401, "expired_token", TACIT__WHEN_TOKEN, "WWW-Authenticate", "the token has expired"},
    {403, "scope", TACIT__WHEN_TOKEN, NULL, "the token does not have the scope"},
    {403, "learner", TACIT__WHEN_TOKEN, NULL, "the token is for another learner"},
    {404, "no_route", TACIT__WHEN_NOWHERE, NULL, "there is no such route"},
    {404, "no_learner", TACIT__WHEN_SAID, NULL,
     "there is no such learner, or there are several and the request names none"},
    {404, "no_episode", TACIT__WHEN_SAID, NULL, "there is no such episode"},
    {405, "method", TACIT__WHEN_NOWHERE, "Allow", "the route has another method"},
    {409, "contradiction", TACIT__WHEN_SAID, NULL,
     "an earlier observation of this step was different, even if the episode is finished"},
    {409, "finished", TACIT__WHEN_SAID, NULL, "the episode has no further steps"},
    {409, "episodes", TACIT__WHEN_SAID, NULL,
     "the learner has episodes of several steps: open one first"},
    {409, "local", TACIT__WHEN_SAID, NULL,
     "the learner is local: devices choose actions by the billboard and send reports"},
    {409, "not_local", TACIT__WHEN_SAID, NULL, "the learner is not local: it accepts no reports"},
    {410, "expired", TACIT__WHEN_SAID, NULL, "the episode is too old"},
    {413, "too_large", TACIT__WHEN_ASKED, NULL,
     "the body is larger than `limits.body`, or a batch has more than 1000 elements"},
    {422, "unknown_field", TACIT__WHEN_BODY, NULL, "the body has a field that does not exist"},
    {422, "missing", TACIT__WHEN_BODY, NULL, "a field, or a header, is missing"},
    {422, "out_of_range", TACIT__WHEN_BODY, NULL,
     "a field, or a header, is out of range; nothing has changed"},
    {422, "key_reused", TACIT__WHEN_SAID, NULL, "the key was used for another request"},
    {429, "rate", TACIT__WHEN_TOKEN, "Retry-After", "the token sends too many requests"},
    {429, "quota", TACIT__WHEN_SAID, "Retry-After", "the token has sent all its users of this day"},
    {500, "internal", TACIT__WHEN_SAID, NULL, "the learner could not decide"},
    {503, "store", TACIT__WHEN_SAID, NULL,
     "the store cannot be read or written; nothing was acknowledged"},
    {503, "crowded", TACIT__WHEN_SAID, "Retry-After", "too many episodes are open"},
    {503, "copy", TACIT__WHEN_SAID, "Retry-After",
     "the store is a copy, and only the original learns; nothing was acknowledged"},
    {503, "behind", TACIT__WHEN_SAID, "Retry-After",
     "the store went back, or its mark is missing, so it does not learn; nothing was acknowledged"},
    {503, "unsound", TACIT__WHEN_SAID, "Retry-After",
     "the store's counts do not add up, so it does not learn; nothing was acknowledged"},
    {503, "fenced", TACIT__WHEN_SAID, NULL,
     "another server took over the store; nothing was acknowledged"},
    {503, "busy", TACIT__WHEN_ASKED, "Retry-After",
     "all connections are in use (`limits.connections`); the connection is closed"},
    {503, "memory", TACIT__WHEN_ASKED, NULL, "out of memory"},
    {503, "stopping", TACIT__WHEN_ASKED, NULL, "the service is stopping"},
    {0},
};

const tacit__member tacit__headers[] = {
    {"Allow", "text", REQUIRED, "the methods that the route has"},
    {"Cache-Control", "text", REQUIRED, "how long the answer may be cached"},
    {"ETag", "text", REQUIRED, "differs for every version and every learner"},
    {"Retry-After", "count", REQUIRED, "seconds until it is worth asking again"},
    {"WWW-Authenticate", "text", REQUIRED, "that a bearer token is needed"},
    {0},
};

/* --- Looking up --------------------------------------------------------------------------------- */

static bool is_called(const char *name, const char *text, size_t length)
{
    return strlen(name) == length && memcmp(name, text, length) == 0;
}

const tacit__object_shape *tacit__shape_find(const char *name, size_t length)
{
    for (const tacit__object_shape *const *s = tacit__shapes; *s != NULL; s++)
        if (is_called((*s)->name, name, length))
            return *s;
    return NULL;
}

bool tacit__shape_has(const tacit__object_shape *shape, const char *field, size_t length)
{
    for (const tacit__member *f = shape->fields; f->name != NULL; f++)
        if (strcmp(f->name, "...") == 0
                ? tacit__shape_has(tacit__shape_find(f->type, strlen(f->type)), field, length)
                : is_called(f->name, field, length))
            return true;
    return false;
}
