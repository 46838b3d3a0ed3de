# Writes transitions.csv and initial.csv from the matrices of Oberst and Sontag's simulator of sepsis, for
# examples/sepsis.yaml. Needs numpy:
#
#   python3 examples/sepsis_tables.py diab_txr_mats-replication.pkl data/sepsis
#
# A state is a patient's condition with (from 720 on) or without diabetes. Entering death pays -1, entering discharge +1;
# both are for ever and pay 0 afterwards.
import os
import pickle
import sys

import numpy as np

if len(sys.argv) != 3:
    sys.exit("usage: sepsis_tables.py MATRICES.pkl DIRECTORY")
with open(sys.argv[1], "rb") as f:
    matrices = pickle.load(f)
moves, rewards = matrices["tx_mat"], matrices["r_mat"]  # [diabetes][action][state][next state]
first, diabetes = matrices["p_initial_state"], matrices["p_mixture"]
n = moves.shape[2]
os.makedirs(sys.argv[2], exist_ok=True)
with open(os.path.join(sys.argv[2], "transitions.csv"), "w") as out:
    print("state,action,next_state,probability,reward", file=out)
    for c in range(2):
        for s in range(n):
            over = rewards[0, 0, 0, s] != 0
            for a in range(moves.shape[1]):
                if over:
                    print(f"{c * n + s},{a},{c * n + s},1,0", file=out)
                    continue
                for t in np.flatnonzero(moves[c, a, s]):
                    print(f"{c * n + s},{a},{c * n + t},{moves[c, a, s, t]:.17g},{rewards[c, a, s, t]:g}", file=out)
with open(os.path.join(sys.argv[2], "initial.csv"), "w") as out:
    print("state,probability", file=out)
    for c in range(2):
        for s in np.flatnonzero(first[c]):
            print(f"{c * n + s},{diabetes[c] * first[c, s]:.17g}", file=out)
