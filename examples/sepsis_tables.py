# Writes transitions.csv and initial.csv from the matrices of Oberst and Sontag's simulator of sepsis, for
# examples/sepsis.yaml. Needs nothing but Python 3: the arrays are read without numpy.
#
#   python3 examples/sepsis_tables.py diab_txr_mats-replication.pkl data/sepsis
#
# A state is a patient's condition with (from 720 on) or without diabetes. Entering death pays -1, entering discharge +1;
# both are for ever and pay 0 afterwards.
import array
import os
import pickle
import sys


class Array:
    """A pickled array of doubles: its shape, and its values in a row."""

    def __setstate__(self, state):
        _, self.shape, kind, by_column, data = state
        if by_column or kind.name != "f8" or kind.order not in "<|=":
            sys.exit("sepsis_tables: the arrays are not little-endian doubles in the order of C")
        self.values = array.array("d")
        self.values.frombytes(data if isinstance(data, bytes) else data.encode("latin1"))
        if sys.byteorder == "big":
            self.values.byteswap()

    def row(self, *index):
        """The values of the last axis at these indices of the others."""
        at = 0
        for i, n in zip(index, self.shape):
            at = at * n + i
        n = self.shape[-1]
        return self.values[at * n:(at + 1) * n]


class Kind:
    """A pickled type of numbers."""

    def __init__(self, name, *_):
        self.name, self.order = name if isinstance(name, str) else name.decode(), "|"

    def __setstate__(self, state):
        self.order = state[1] if isinstance(state[1], str) else state[1].decode()


class Reader(pickle.Unpickler):
    """Makes arrays and their types, and nothing else: a pickle could run any program."""

    def find_class(self, module, name):
        known = {"_reconstruct": lambda *_: Array(), "ndarray": Array, "dtype": Kind,
                 "encode": lambda text, _: text.encode("latin1")}
        if module.split(".")[0] not in ("numpy", "_codecs") or name not in known:
            sys.exit(f"sepsis_tables: {module}.{name} does not belong in a file of matrices")
        return known[name]


def nonzero(row):
    return ((i, x) for i, x in enumerate(row) if x != 0)


if len(sys.argv) != 3:
    sys.exit("usage: sepsis_tables.py MATRICES.pkl DIRECTORY")
with open(sys.argv[1], "rb") as f:
    matrices = Reader(f, encoding="latin1").load()
moves, rewards = matrices["tx_mat"], matrices["r_mat"]  # [diabetes][action][state][next state]
first, diabetes = matrices["p_initial_state"], matrices["p_mixture"].values
n_actions, n = moves.shape[1], moves.shape[2]
os.makedirs(sys.argv[2], exist_ok=True)
with open(os.path.join(sys.argv[2], "transitions.csv"), "w") as out:
    print("state,action,next_state,probability,reward", file=out)
    over = [r != 0 for r in rewards.row(0, 0, 0)]
    for c in range(2):
        for s in range(n):
            for a in range(n_actions):
                if over[s]:
                    print(f"{c * n + s},{a},{c * n + s},1,0", file=out)
                    continue
                paid = rewards.row(c, a, s)
                for t, p in nonzero(moves.row(c, a, s)):
                    print(f"{c * n + s},{a},{c * n + t},{p:.17g},{paid[t]:g}", file=out)
with open(os.path.join(sys.argv[2], "initial.csv"), "w") as out:
    print("state,probability", file=out)
    for c in range(2):
        for s, p in nonzero(first.row(c)):
            print(f"{c * n + s},{diabetes[c] * p:.17g}", file=out)
