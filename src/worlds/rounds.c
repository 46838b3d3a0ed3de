/* Rounds: the users of a bandit world, one after the other. See include/tacit/world.h.
 *
 * Round k has n words of the site "rounds", its last for the reward, and one word of "rounds: choices" for
 * a random policy; as many rounds as fit into a piece are drawn with one call (worlds/walk.c says why).
 * Where users are people of a file, each comes once: their order is a permutation that belongs to the run
 * (Fisher and Yates). People who come back have the words of their number of "rounds: people" instead, but
 * for the reward. */

#include "base/error.h"
#include "base/workspace.h"
#include "noise/stream.h"
#include "worlds/alias.h"
#include "worlds/bandit.h"
#include "worlds/kind.h"

enum { GROUP_WORDS = 512, ROUND_WORDS = 64, CHOICES = 512 };

struct tacit_rounds {
    const tacit__bandit *world;
    tacit__site site, choice, people;
    uint64_t person; /* who comes next, plus one; 0: somebody new */
    size_t per_round, group, n_words;
    uint64_t *words, *choices, *own; /* own: [n_words + 1] of a person who comes back */
    uint64_t drawn, drawn_choices;   /* which groups are there, plus one */
    uint32_t *order;                 /* [people], or NULL */
    double *features, *means;
    uint64_t round;
    const uint64_t *word; /* of the round */
    tacit_visitor visitor;
};

static void shuffle(tacit_rounds *r, tacit_noise *root)
{
    TACIT__REQUIRE(r->order != NULL && r->world->people <= UINT32_MAX);
    size_t n = (size_t)r->world->people;
    for (size_t i = 0; i < n; i++)
        r->order[i] = (uint32_t)i;
    tacit__site site;
    tacit__site_open(&site, root, "rounds: order of people");
    uint64_t words[ROUND_WORDS];
    for (size_t i = 0; i + 1 < n; i++) {
        if (i % ROUND_WORDS == 0)
            tacit__site_words(&site, 0, i, ROUND_WORDS, words);
        size_t j = i + (size_t)(((tacit__u128)words[i % ROUND_WORDS] * (n - i)) >> 64);
        uint32_t kept = r->order[i];
        r->order[i] = r->order[j];
        r->order[j] = kept;
    }
    tacit__site_wipe(&site);
}

tacit_status tacit_rounds_create(const tacit_world *world, tacit_noise *root, tacit_rounds **out,
                                 tacit_error *err)
{
    if (world == NULL || root == NULL || out == NULL)
        return tacit__fail_plain(err, TACIT_BAD_ARGUMENT);
    const tacit__bandit *bandit = tacit__world_bandit(world);
    if (bandit == NULL)
        return tacit__fail(err, TACIT_UNSUPPORTED,
                           "rounds are for bandit worlds; users of this one walk");
    const size_t per_user =
        bandit->face.dimension * (bandit->face.disjoint ? 1 : bandit->n_actions);
    const bool shuffled = bandit->people > 0 && bandit->shuffled;
    tacit_rounds w = {.world = bandit, .per_round = bandit->n_words + 1};
    w.group = w.per_round < GROUP_WORDS ? GROUP_WORDS / w.per_round : 1;
    w.n_words = (w.group * w.per_round + ROUND_WORDS - 1) / ROUND_WORDS * ROUND_WORDS;
    tacit_rounds *r =
        TACIT__WORKSPACE(w, TACIT__PIECE(w.words, w.n_words), TACIT__PIECE(w.choices, CHOICES),
                         TACIT__PIECE(w.own, w.per_round), TACIT__PIECE(w.features, per_user),
                         TACIT__PIECE(w.means, bandit->n_actions),
                         TACIT__PIECE_IF(shuffled, w.order, (size_t)bandit->people));
    if (r == NULL)
        return tacit__fail_plain(err, TACIT_NO_MEMORY);
    tacit__site_open(&r->site, root, "rounds");
    tacit__site_open(&r->choice, root, "rounds: choices");
    tacit__site_open(&r->people, root, "rounds: people");
    if (shuffled)
        shuffle(r, root);
    *out = r;
    return TACIT_OK;
}

void tacit_rounds_destroy(tacit_rounds *r)
{
    tacit__workspace_destroy(r);
}

tacit_status tacit_rounds_begin(tacit_rounds *r, uint64_t round, tacit_visitor *visitor)
{
    if (r == NULL || visitor == NULL || round >> 62 != 0)
        return TACIT_BAD_ARGUMENT;
    const tacit__bandit *w = r->world;
    const uint64_t person = r->person > 0 ? r->person - 1 : round;
    if (w->people > 0 && person >= w->people)
        return TACIT_EXHAUSTED;
    uint64_t group = round / r->group;
    if (r->drawn != group + 1) {
        tacit__site_words(&r->site, group, 0, r->n_words, r->words);
        r->drawn = group + 1;
    }
    r->round = round;
    r->word = r->words + round % r->group * r->per_round;
    if (r->person > 0) {
        tacit__site_words(&r->people, person, 0, r->per_round, r->own);
        r->own[w->n_words] = r->word[w->n_words];
        r->word = r->own;
    }
    uint64_t number = r->order != NULL ? r->order[person] : person;
    r->visitor = (tacit_visitor){0};
    w->begin(w->self, number, r->word, r->features, r->means, &r->visitor);
    *visitor = r->visitor;
    return TACIT_OK;
}

void tacit__rounds_set_person(tacit_rounds *r, uint64_t person)
{
    TACIT__REQUIRE(person >> 62 == 0);
    r->person = person + 1;
}

double tacit_rounds_chance(tacit_rounds *r)
{
    uint64_t group = r->round / CHOICES;
    if (r->drawn_choices != group + 1) {
        tacit__site_words(&r->choice, group, 0, CHOICES, r->choices);
        r->drawn_choices = group + 1;
    }
    return tacit__unit(r->choices[r->round % CHOICES]);
}

tacit_status tacit_rounds_reward(tacit_rounds *r, uint32_t action, double *reward)
{
    if (r == NULL || reward == NULL || r->word == NULL || action >= r->world->n_actions)
        return TACIT_BAD_ARGUMENT;
    if (r->visitor.means == NULL && action != r->visitor.logged_action)
        return TACIT_UNSUPPORTED;
    *reward = r->world->reward(r->world->self, &r->visitor, action, r->word[r->world->n_words]);
    return TACIT_OK;
}
