/* The objects of the HTTP interface, its errors and its headers. How rows are written is in serve/routes.h. */
#include "serve/routes.h"

#include <string.h>

#define FIELDS(...) ((const tacit__member[]){__VA_ARGS__, {0}})
#define OPTIONAL TACIT__OPTIONAL
#define REQUIRED 0

#define LEARNER                                                                                    \
    {                                                                                              \
        "learner", "text 1..64", OPTIONAL, "its name; may be left out if there is one"             \
    }
#define USER                                                                                       \
    {                                                                                              \
        "user", "text 1..256", OPTIONAL,                                                           \
            "an opaque id, kept as a keyed hash; each is learned from once in a learner, and "     \
            "decided for always. It is taken as it is: another spelling is another user. Needed "  \
            "where the learner's space has `user: required`"                                       \
    }
#define STATE                                                                                      \
    {                                                                                              \
        "state", "number", OPTIONAL,                                                               \
            "a whole number, for learners with states; with `outside: clip` any number"            \
    }
#define CONTEXT                                                                                    \
    {                                                                                              \
        "context", "[number] | {number | text | null}", OPTIONAL,                                  \
            "actions x features numbers, or the features alone, as the learner's space says; "     \
            "where it names columns, an object with their values, for example `{\"age\": 41, "     \
            "\"country\": \"DE\"}`"                                                                \
    }
#define OUTSIDE                                                                                    \
    {                                                                                              \
        "outside", "true", OPTIONAL,                                                               \
            "there if what was sent lay outside the learner's space and was cut into it "          \
            "(`outside: clip`)"                                                                    \
    }
#define LEARNED                                                                                    \
    {                                                                                              \
        "learned", "false", OPTIONAL,                                                              \
            "there if nothing that comes of it is learned: the user has taken part in another "    \
            "episode, the learner has had all its users, or the store is a copy"                   \
    }
#define STEP                                                                                       \
    {                                                                                              \
        "step", "count", REQUIRED, "of the decision, from 0"                                       \
    }

/* --- What is asked ------------------------------------------------------------------------------ */

const tacit__object_shape tacit__shape_new_episode = {"NewEpisode", "Whose episode it is.",
                                                      FIELDS(LEARNER, USER)};

const tacit__object_shape tacit__shape_decide = {
    "Situation", "Where a user stands: `state` or `context`.",
    FIELDS(STATE, CONTEXT,
           {"step", "count", OPTIONAL,
            "from 0; may be left out: the first step that was not yet observed"})};

const tacit__object_shape tacit__shape_decide_once = {
    "OneDecision", "An episode of one step: who, and where the user stands.",
    FIELDS(LEARNER, USER, STATE, CONTEXT)};

const tacit__object_shape tacit__shape_observe = {
    "Observation", "What came of a decision.",
    FIELDS({"decision", "text", REQUIRED,
            "the id that decide gave; it is the idempotency key, and a header of that name is not "
            "looked at"},
           {"reward", "number", OPTIONAL,
            "from 0 to 1, with `outside: clip` any number; may come in a later call"},
           {"next_state", "number", OPTIONAL,
            "where it led, for learners with states; needed for the last of several steps"},
           {"next_context", "[number] | {number | text | null}", OPTIONAL,
            "where it led, for learners with contexts"})};

const tacit__object_shape tacit__shape_report = {
    "Report", "A privatized report.",
    FIELDS(LEARNER, {"report", "base64url", REQUIRED,
                     "what the device has made; its last 16 bytes are random, and no two reports "
                     "have the same"})};

/* --- What is answered --------------------------------------------------------------------------- */

static const tacit__object_shape episode = {
    "Episode", "An episode that was opened.",
    FIELDS(
        {"episode", "text", REQUIRED, "its id"}, {"learner", "text", REQUIRED, "its name"},
        {"horizon", "count", REQUIRED, "steps that it has"},
        {"expires", "count", REQUIRED,
         "seconds since 1970; an estimate, since time in which nothing is served does not count"},
        LEARNED)};

static const tacit__object_shape decision = {
    "Decision", "What to do.",
    FIELDS({"action", "count | text", REQUIRED, "from 0, or its name where actions have names"},
           {"probability", "number 0..1", REQUIRED, "of this action"},
           {"version", "count", REQUIRED, "of the policy"}, STEP,
           {"decision", "text", REQUIRED, "its id, for observe"}, OUTSIDE, LEARNED)};

static const tacit__object_shape observed = {
    "Observed", "What was made of an observation.",
    FIELDS({"status", "'open' | 'finished' | 'full' | 'taken_part'", REQUIRED,
            "`open`: more is expected; `finished`: it will be learned; `full`: the budget is "
            "spent; `taken_part`: the user did so in another episode. With the last two nothing "
            "is learned, and nothing that was told is kept"},
           STEP, OUTSIDE, LEARNED)};

static const tacit__object_shape one_of_many = {
    "OneOfMany", "The answer to one element of a batch.",
    FIELDS({"status", "count", REQUIRED, "as of a request of its own"},
           {"body", "Decision | Observed | Error", REQUIRED, "as of a request of its own"})};

static const tacit__object_shape reported = {
    "Reported", "What was made of a report.",
    FIELDS({"status", "'taken' | 'full' | 'late'", REQUIRED,
            "`full`: the budget is spent, so it is not learned; `late`: the model that it was made "
            "by has been replaced, so it is not learned"})};

static const tacit__object_shape guarantee = {
    "Guarantee", "Differential privacy.",
    FIELDS({"epsilon", "number", REQUIRED, "of the guarantee"},
           {"delta", "number 0..1", REQUIRED, "of the guarantee"})};

static const tacit__object_shape agent = {
    "Agent", "Who learns.",
    FIELDS({"kind", "text", REQUIRED, "as `tacit list agents` names it"},
           {"sums", "text | null", REQUIRED, "how running sums are kept private; null: by default"},
           {"settings", "[[text]]", REQUIRED, "pairs of a key and a value"})};

static const tacit__object_shape space = {
    "Space", "What users bring and what can be done, as the service file declares it.",
    FIELDS(
        {"states", "count", REQUIRED, "how many"}, {"actions", "count", REQUIRED, "how many"},
        {"horizon", "count", REQUIRED, "steps of an episode"},
        {"stationary", "flag", REQUIRED, "whether all steps are alike"},
        {"features", "count", OPTIONAL, "of a context, for each action or shared"},
        {"shared", "flag", OPTIONAL, "whether one parameter serves all actions"},
        {"bound", "number", OPTIONAL, "of the features' norm"},
        {"simplex", "true", OPTIONAL, "features are weights that sum to 1"},
        {"complementary", "true", OPTIONAL, "a guess of two is right or wrong"},
        {"parameter_norm", "number", OPTIONAL, "bound of the unknown parameter"},
        {"weights", "true", OPTIONAL, "the law of the states is known"},
        {"context", "count", OPTIONAL, "numbers of a context"},
        {"kernel", "text", OPTIONAL, "of the learner"},
        {"parts", "count", OPTIONAL, "of the mixture"},
        {"action_names", "[text]", OPTIONAL, "in the order of their numbers"},
        {"columns", "[Column]", OPTIONAL, "of a context, in the order of its features"},
        {"intercept", "flag", OPTIONAL, "of named columns: the first feature is always 1"},
        {"unit", "flag", OPTIONAL, "of named columns: everybody's features are scaled to length 1"},
        {"user", "'required'", OPTIONAL, "there if nobody takes part without an id"})};

static const tacit__object_shape column = {
    "Column", "A column of a context: a range, or categories.",
    FIELDS({"name", "text", REQUIRED, "of the field in `context`"},
           {"low", "number", OPTIONAL, "the least number"},
           {"high", "number", OPTIONAL, "the largest number"},
           {"log", "true", OPTIONAL, "it is encoded on a logarithmic scale"},
           {"missing", "true", OPTIONAL, "the number may be missing"},
           {"categories", "[text]", OPTIONAL, "that it may be; or none of them if it is missing"},
           {"others", "true", OPTIONAL, "other texts are no error, and are encoded as missing"})};

static const tacit__object_shape about = {
    "About", "What a learner is and promises.",
    FIELDS({"model", "'joint' | 'local' | 'none'", REQUIRED, "of privacy"},
           {"guarantee", "Guarantee | null", REQUIRED, "of the learner alone; null: none"},
           {"agent", "Agent", REQUIRED, "who learns"},
           {"space", "Space", REQUIRED, "of situations and actions"},
           {"episodes", "count", REQUIRED, "users that it was declared for"},
           {"log_decisions", "true", OPTIONAL,
            "there if the operator keeps a record of decisions, which is outside the promise"})};

static const tacit__object_shape costs = {
    "Costs", "What users pay beside the learner.",
    FIELDS({"monitor", "Guarantee | null", REQUIRED,
            "what the released mean reward costs; null: it is not released"},
           {"together", "Guarantee | null", REQUIRED, "learner and monitor; null: no promise"})};

static const tacit__object_shape figures = {
    "Figures", "How far a learner is.",
    FIELDS({"limit", "count", REQUIRED, "users that it was declared for"},
           {"accepted", "count", REQUIRED, "users acknowledged"},
           {"users", "count", REQUIRED, "users that it has learned from"},
           {"refused", "count", REQUIRED,
            "always 0: who was acknowledged counts, and a number of those who do not would tell "
            "about one of them"},
           {"left", "count", REQUIRED, "users until the budget is spent"},
           {"version", "count", REQUIRED, "of the billboard"},
           {"learning", "flag", REQUIRED, "whether it learns"},
           {"reason", "text | null", REQUIRED, "why it does not"},
           {"reward", "number | null", REQUIRED, "mean, as released"},
           {"reward_error", "number | null", REQUIRED, "its standard error"})};

static const tacit__object_shape tables = {
    "Tables", "What the service file declares: numbers of 64 bits, low byte first.",
    FIELDS({"rewards", "base64url", OPTIONAL, "[horizon][states][actions]"},
           {"mixture", "base64url", OPTIONAL, "[states][actions][parts][states]"},
           {"features", "base64url", OPTIONAL, "[states][actions][features]"},
           {"weights", "base64url", OPTIONAL, "[states]"})};

static const tacit__object_shape billboard = {
    "Billboard", "What anybody may read and act by.",
    FIELDS({"learner", "text", REQUIRED, "its name"},
           {"version", "count", REQUIRED, "of the policy"},
           {"users", "count", REQUIRED, "users that it was made from"},
           {"...", "About", REQUIRED, ""}, {"...", "Costs", REQUIRED, ""},
           {"tables", "Tables", OPTIONAL, "for local learners: what a device needs to know"},
           {"model_bytes", "base64url", OPTIONAL,
            "for local learners whose devices make their reports by a model"},
           {"policy", "[[count]]", OPTIONAL,
            "[horizon][states]: the action, where the billboard is a table"},
           {"mixed", "[[[number 0..1]]]", OPTIONAL,
            "[horizon][states][actions]: probabilities, where the billboard is such a table"})};

static const tacit__object_shape learner = {
    "Learner", "A learner and how far it is.",
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
           {"declared", "count", REQUIRED, "steps of it that the plan has"},
           {"passed", "count", REQUIRED, "steps that are on disk"},
           {"left", "count", REQUIRED, "steps to come"},
           {"scale", "number | null", REQUIRED, "of the noise"})};

static const tacit__object_shape adoption = {
    "Adoption", "A store went on whose original may have gone on, too.",
    FIELDS({"at", "count", REQUIRED, "seconds since 1970"},
           {"users", "count", REQUIRED, "users that the learner had learned from"},
           {"lives", "count", REQUIRED, "of the store from then on"})};

static const tacit__object_shape lives = {
    "Lives", "In how many lines the store may have gone on.",
    FIELDS({"lives", "count", REQUIRED,
            "in how many lines the store may have gone on: 1, and one more with each adoption"},
           {"adoptions", "[Adoption]", REQUIRED, "all of them"})};

static const tacit__object_shape ledger = {
    "Ledger", "What was released, what it cost, what is left.",
    FIELDS({"learner", "text", REQUIRED, "its name"}, {"...", "About", REQUIRED, ""},
           {"...", "Costs", REQUIRED, ""}, {"...", "Figures", REQUIRED, ""},
           {"releases", "[Passed]", REQUIRED, "by the learner, then by its monitor"},
           {"...", "Lives", REQUIRED, ""},
           {"note", "text", OPTIONAL, "for local learners: what is counted"})};

static const tacit__object_shape release = {
    "Release", "A line of a release plan.",
    FIELDS({"name", "text", REQUIRED, "of the release"},
           {"dimension", "count", REQUIRED, "numbers in it"},
           {"steps", "count", REQUIRED, "how often it happens at most"},
           {"l1", "number | null", REQUIRED, "sensitivity in one step"},
           {"l2", "number | null", REQUIRED, "sensitivity in one step"},
           {"column_l1", "number | null", REQUIRED, "sensitivity of all steps of a user together"},
           {"column_l2", "number | null", REQUIRED, "sensitivity of all steps of a user together"},
           {"scale", "number | null", REQUIRED, "of the noise"},
           {"reason", "text", REQUIRED, "for the sensitivities"})};

static const tacit__object_shape plan = {
    "Plan", "What is released, and what the accountant makes of it.",
    FIELDS({"law", "'gaussian' | 'laplace' | 'none'", REQUIRED, "of the noise"},
           {"releases", "[Release]", REQUIRED, "all of them"},
           {"accounted", "Guarantee | null", REQUIRED, "what they cost together"},
           {"two_lives", "Guarantee | null", REQUIRED,
            "the same for a person in two continuations of one saved state"})};

static const tacit__object_shape promise = {
    "Promise", "What is promised and why.",
    FIELDS({"learner", "text", REQUIRED, "its name"}, {"...", "About", REQUIRED, ""},
           {"plan", "Plan | null", REQUIRED, "of the learner; null: without privacy"},
           {"monitor", "Plan | null", REQUIRED, "of the released mean reward; null: none"},
           {"together", "Guarantee | null", REQUIRED, "learner and monitor; null: no promise"},
           {"sentences", "[text]", REQUIRED, "the promise in words"},
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

#define REASONS "'failing' | 'copy' | 'behind' | 'unsound' | 'fenced' | 'learner' | 'stopping'"

static const tacit__object_shape health = {
    "Health", "Whether the service is alive.",
    FIELDS({"status", "'ok' | " REASONS, REQUIRED, "`ok`, or the first reason of readyz"},
           {"version", "text", REQUIRED, "of tacit"})};

static const tacit__object_shape readiness = {
    "Readiness", "Whether the service can do all its work now.",
    FIELDS({"ready", "flag", REQUIRED, "whether there is no reason against it"},
           {"reasons", "[" REASONS "]", REQUIRED,
            "`failing`: the store cannot be written; `copy`: the store is a copy; `behind`: it "
            "went back, or its mark is missing; `unsound`: its counts do not add up; `fenced`: "
            "another "
            "server has taken it over (with these four nobody learns); `learner`: a learner has "
            "failed; `stopping`: the service is being stopped"})};

static const tacit__object_shape problem = {
    "Problem", "Why a request was refused.",
    FIELDS({"code", "text", REQUIRED, "one of the codes below"},
           {"field", "text", OPTIONAL, "where one is to blame"},
           {"message", "text", REQUIRED, "for people; nothing that was sent is repeated"})};

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
                                                    &ledger,
                                                    &passed,
                                                    &lives,
                                                    &adoption,
                                                    &promise,
                                                    &plan,
                                                    &release,
                                                    &history,
                                                    &point,
                                                    &health,
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
    {400, "host", TACIT__WHEN_ASKED, NULL, "HTTP/1.1 without a header Host"},
    {400, "length", TACIT__WHEN_ASKED, NULL, "the body's end can be read in two ways"},
    {400, "encoding", TACIT__WHEN_ASKED, NULL, "a Transfer-Encoding other than chunked"},
    {400, "header", TACIT__WHEN_ASKED, NULL,
     "a header that may come once came twice, or has a name that cannot be"},
    {400, "path", TACIT__WHEN_ASKED, NULL,
     "the path or the query has control characters, or the query names a learner or a step twice"},
    {400, "not_json", TACIT__WHEN_BODY, NULL, "the body is not JSON"},
    {400, "not_an_object", TACIT__WHEN_BODY, NULL, "the body is JSON, but no object"},
    {401, "token", TACIT__WHEN_TOKEN, "WWW-Authenticate", "there is no token, or nobody knows it"},
    {401, "expired_token", TACIT__WHEN_TOKEN, "WWW-Authenticate", "the token has ended"},
    {403, "scope", TACIT__WHEN_TOKEN, NULL, "the token has not the scope"},
    {403, "learner", TACIT__WHEN_TOKEN, NULL, "the token is for another learner"},
    {404, "no_route", TACIT__WHEN_NOWHERE, NULL, "there is no such route"},
    {404, "no_learner", TACIT__WHEN_SAID, NULL,
     "there is no such learner, or several, and none is named"},
    {404, "no_episode", TACIT__WHEN_SAID, NULL, "there is no such episode"},
    {405, "method", TACIT__WHEN_NOWHERE, "Allow", "the route has another method"},
    {409, "contradiction", TACIT__WHEN_SAID, NULL,
     "the step was told otherwise before, also if the episode is finished by now"},
    {409, "finished", TACIT__WHEN_SAID, NULL, "the episode has no further steps"},
    {409, "episodes", TACIT__WHEN_SAID, NULL,
     "the learner has episodes of several steps: open one first"},
    {409, "local", TACIT__WHEN_SAID, NULL,
     "the learner is local: devices act by the billboard and send reports"},
    {409, "not_local", TACIT__WHEN_SAID, NULL, "the learner is not local: it takes no reports"},
    {410, "expired", TACIT__WHEN_SAID, NULL, "the episode is too old"},
    {413, "too_large", TACIT__WHEN_ASKED, NULL,
     "the body is larger than `limits.body`, or a batch has more than 1000 elements"},
    {422, "unknown_field", TACIT__WHEN_BODY, NULL, "the body has a field that does not exist"},
    {422, "missing", TACIT__WHEN_BODY, NULL, "a field, or a header, is missing"},
    {422, "out_of_range", TACIT__WHEN_BODY, NULL,
     "a field, or a header, is none that can be; nothing has changed"},
    {422, "key_reused", TACIT__WHEN_SAID, NULL, "the key was used for another request"},
    {429, "rate", TACIT__WHEN_TOKEN, "Retry-After", "the token asks too often"},
    {429, "quota", TACIT__WHEN_SAID, "Retry-After",
     "the token has brought all its users of this day"},
    {500, "internal", TACIT__WHEN_SAID, NULL, "the learner could not decide"},
    {503, "store", TACIT__WHEN_SAID, NULL,
     "the store cannot be read or written; nothing was acknowledged"},
    {503, "crowded", TACIT__WHEN_SAID, "Retry-After", "too many episodes are open"},
    {503, "copy", TACIT__WHEN_SAID, "Retry-After",
     "the store is a copy, and only the original learns; nothing was acknowledged"},
    {503, "behind", TACIT__WHEN_SAID, "Retry-After",
     "the store went back, or its mark is missing, and learns nothing; nothing was acknowledged"},
    {503, "unsound", TACIT__WHEN_SAID, "Retry-After",
     "the store's counts do not add up, and it learns nothing; nothing was acknowledged"},
    {503, "fenced", TACIT__WHEN_SAID, NULL,
     "another server has taken over the store; nothing was acknowledged"},
    {503, "memory", TACIT__WHEN_ASKED, NULL, "out of memory"},
    {503, "stopping", TACIT__WHEN_ASKED, NULL, "the service stops"},
    {0},
};

const tacit__member tacit__headers[] = {
    {"Allow", "text", REQUIRED, "the methods that the route has"},
    {"Cache-Control", "text", REQUIRED, "how long the answer may be kept"},
    {"ETag", "text", REQUIRED, "another one for every version and every learner"},
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
