# Writes a table that tacit run can play: patients with some vital signs, each low, normal or high, and some treatments,
# each on or off, drawn at random from a seed. An action says which treatments to give. Signs drift by themselves; a
# treatment pushes the signs that it works on, up or down. Whoever has more than half of the signs off leaves dead (-1), who
# has all normal without a treatment leaves alive (+1); both stay for ever and pay nothing more.
#
#   python3 scripts/care_world.py SEED SIGNS TREATMENTS DIRECTORY
import itertools
import os
import random
import sys

if len(sys.argv) != 5:
    sys.exit("usage: care_world.py SEED SIGNS TREATMENTS DIRECTORY")
seed, signs, treatments = (int(x) for x in sys.argv[1:4])
chance = random.Random(seed)
drift = [(chance.uniform(0.02, 0.12), chance.uniform(0.02, 0.12), chance.uniform(0.05, 0.2)) for _ in range(signs)]
push = [[chance.choice((-1, 0, 0, 1)) * chance.uniform(0.2, 0.7) for _ in range(signs)] for _ in range(treatments)]
conditions = [(v, t) for v in itertools.product((-1, 0, 1), repeat=signs) for t in itertools.product((0, 1), repeat=treatments)]
number = {c: i for i, c in enumerate(conditions)}
DEAD, ALIVE = len(conditions), len(conditions) + 1


def moves(i, v, given):
    """Chances of the next level of sign i."""
    down, up, heal = drift[i]
    work = sum(push[t][i] for t in range(treatments) if given[t])
    down, up = down + max(0, -work), up + max(0, work)
    if v == 0:
        out = {-1: down, 1: up}
    else:
        out = {0: heal + (up if v < 0 else down)}
    total = sum(out.values())
    if total > 1:
        out = {k: x / total for k, x in out.items()}
    out[v] = 1 - sum(out.values())
    return {k: x for k, x in out.items() if x > 1e-12}


def lines():
    for (v, _), s in number.items():
        for a, given in enumerate(itertools.product((0, 1), repeat=treatments)):
            ends = {}
            for nexts in itertools.product(*(moves(i, v[i], given).items() for i in range(signs))):
                w, p = tuple(n for n, _ in nexts), 1.0
                for _, q in nexts:
                    p *= q
                off = sum(x != 0 for x in w)
                end = (DEAD, -1) if 2 * off > signs else (ALIVE, 1) if off == 0 and not any(given) else (number[w, given], 0)
                ends[end] = ends.get(end, 0) + p
            for (to, pay), p in sorted(ends.items()):
                yield f"{s},{a},{to},{p!r},{pay}"
    for s in (DEAD, ALIVE):
        for a in range(2 ** treatments):
            yield f"{s},{a},{s},1,0"


sick = [number[c] for c in conditions if not any(c[1]) and sum(x != 0 for x in c[0]) == signs // 2]
os.makedirs(sys.argv[4], exist_ok=True)
with open(os.path.join(sys.argv[4], "transitions.csv"), "w") as out:
    out.write("state,action,next_state,probability,reward\n")
    out.writelines(line + "\n" for line in lines())
with open(os.path.join(sys.argv[4], "initial.csv"), "w") as out:
    out.write("state,probability\n")
    weights = [chance.uniform(0.2, 1) for _ in sick]
    out.writelines(f"{s},{w / sum(weights)!r}\n" for s, w in zip(sick, weights))
