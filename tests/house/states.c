/* Prints a hash of the saved state of every agent of the experiments that are named, after some users of their worlds.
 *
 *   states USERS FILE.yaml…
 *
 * Public interface only, so that the same source can be linked with two versions of the library: scripts/same compares what
 * the two print. The noise is simulated, as in every experiment. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <tacit/lab.h>

static uint64_t users;

static void stop(const char *what, const tacit_error *err)
{
    (void)fprintf(stderr, "states: %s: %s\n", what, err->message);
    exit(1);
}

static void *allocate(size_t n, size_t size)
{
    void *p = calloc(n > 0 ? n : 1, size);
    if (p == NULL)
        exit(1);
    return p;
}

/* FNV-1a; differences are looked for, not forgeries. */
static uint64_t hash(const unsigned char *bytes, size_t size)
{
    uint64_t h = UINT64_C(14695981039346656037);
    for (size_t i = 0; i < size; i++)
        h = (h ^ bytes[i]) * UINT64_C(1099511628211);
    return h;
}

/* Users who walk through a tabular world. */
static tacit_status walk(tacit_agent *agent, const tacit_world *world, tacit_noise *chance,
                         tacit_error *err)
{
    size_t h = tacit_world_describe(world)->horizon;
    uint32_t *states = allocate(h + 1, sizeof *states), *actions = allocate(h, sizeof *actions);
    double *rewards = allocate(h, sizeof *rewards);
    tacit_walk *people = NULL;
    tacit_status status = tacit_walk_create(world, chance, &people, err);
    for (uint64_t i = 0; i < users && status == TACIT_OK; i++) {
        tacit_billboard board;
        status = tacit_agent_plan(agent, &board, err);
        if (status == TACIT_OK)
            status = board.policy != NULL
                         ? tacit_walk_play(people, i, board.policy, states, actions, rewards)
                         : tacit_walk_play_mixed(people, i, board.mixed, states, actions, rewards);
        tacit_trajectory user = {.states = states, .actions = actions, .rewards = rewards};
        if (status == TACIT_OK)
            status = tacit_agent_learn(agent, &user, err);
    }
    tacit_walk_destroy(people);
    free(states);
    free(actions);
    free(rewards);
    return status;
}

/* Users of a bandit. Those of a log whose action was another one teach nothing and are passed over. */
static tacit_status visit(tacit_agent *agent, const tacit_world *world, tacit_noise *chance,
                          tacit_error *err)
{
    tacit_rounds *rounds = NULL;
    tacit_status status = tacit_rounds_create(world, chance, &rounds, err);
    for (uint64_t i = 0; i < users && status == TACIT_OK; i++) {
        tacit_billboard board;
        tacit_visitor visitor;
        uint32_t states[2] = {0, 0}, action = 0;
        double reward = 0, probability;
        status = tacit_agent_plan(agent, &board, err);
        if (status == TACIT_OK)
            status = tacit_rounds_begin(rounds, i, &visitor);
        if (status != TACIT_OK)
            break;
        tacit_situation here = {.state = visitor.state, .features = visitor.features};
        status =
            tacit_agent_act(agent, &here, tacit_rounds_chance(rounds), &action, &probability, err);
        if (status == TACIT_OK && tacit_rounds_reward(rounds, action, &reward) != TACIT_OK)
            continue;
        states[0] = visitor.state;
        tacit_trajectory user = {
            .states = states, .actions = &action, .rewards = &reward, .features = visitor.features};
        if (status == TACIT_OK)
            status = tacit_agent_learn(agent, &user, err);
    }
    tacit_rounds_destroy(rounds);
    return status;
}

static void print_state(const tacit_agent *agent, const char *file, const char *world,
                        const char *label)
{
    size_t size = 0;
    tacit_error err = {0};
    if (tacit_agent_save(agent, NULL, &size, &err) != TACIT_OK)
        stop(label, &err);
    unsigned char *bytes = allocate(size, 1);
    if (tacit_agent_save(agent, bytes, &size, &err) != TACIT_OK)
        stop(label, &err);
    (void)printf("%s\t%s\t%s\t%zu\t%016" PRIx64 "\n", file, world, label, size, hash(bytes, size));
    free(bytes);
}

static void play(const char *file, const tacit_experiment *e, size_t w, const tacit_world *world,
                 size_t a)
{
    const tacit_experiment_facts *facts = tacit_experiment_describe(e);
    const char *label = facts->agents[a].label;
    tacit_error err = {0};
    tacit_agent *agent = NULL;
    tacit_noise *chance = NULL;
    if (tacit_experiment_agent(e, w, world, a, 0, &agent, &err) != TACIT_OK)
        stop(label, &err);
    if (tacit_noise_create_simulated(1, &chance) != TACIT_OK)
        stop(label, &err);
    bool bandit = tacit_world_describe(world)->family == TACIT_WORLD_BANDIT;
    if ((bandit ? visit : walk)(agent, world, chance, &err) != TACIT_OK)
        stop(label, &err);
    print_state(agent, file, facts->worlds[w].label, label);
    tacit_noise_destroy(chance);
    tacit_agent_destroy(agent);
}

static void read_file(const char *file)
{
    tacit_error err = {0};
    tacit_experiment *e = NULL;
    const tacit_experiment_changes changes = {.episodes = users + 1, .runs = 1};
    if (tacit_experiment_read(file, &changes, &e, &err) != TACIT_OK)
        stop(file, &err);
    const tacit_experiment_facts *facts = tacit_experiment_describe(e);
    for (size_t w = 0; w < facts->n_worlds; w++) {
        tacit_world *world = NULL;
        if (tacit_experiment_world(e, w, &world, &err) != TACIT_OK)
            stop(file, &err);
        for (size_t a = 0; a < facts->n_agents; a++)
            if (!facts->agents[a].baseline && tacit_experiment_plays(e, w, a))
                play(file, e, w, world, a);
        tacit_world_destroy(world);
    }
    tacit_experiment_destroy(e);
}

int main(int argc, char **argv)
{
    users = argc > 1 ? strtoull(argv[1], NULL, 10) : 0;
    if (users == 0 || argc < 3) {
        (void)fprintf(stderr, "usage: states USERS FILE.yaml...\n");
        return 2;
    }
    for (int i = 2; i < argc; i++)
        read_file(argv[i]);
    return 0;
}
