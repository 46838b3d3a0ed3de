# Makes a Markdown table of a summary.json: worlds down, agents across; with `mean`, and a last row of geometric means.
# Used by scripts/judge.
import json
import math
import sys

summary = json.load(open(sys.argv[2]))
worlds = summary.get("worlds") or [{**summary["world"], "agents": summary["agents"]}]
labels = []
for world in worlds:
    for agent in world["agents"]:
        if agent["label"] not in labels:
            labels.append(agent["label"])


def number(x):
    return f"{x:,.0f}" if x >= 100 else f"{x:.3g}"


chosen = sorted({a["stands_for"] for w in worlds for a in w["agents"] if a["kind"] == "auto"})
stands = f"; `auto` is {', '.join(chosen)}" if chosen else ""
print(f"**{sys.argv[1]}: {summary['title']}.** {summary['episodes']:,} users, {summary['runs']} "
      f"run{'s' if summary['runs'] > 1 else ''}{stands}.\n")
print("| world | " + " | ".join(labels) + " |")
print("|---" * (len(labels) + 1) + "|")
for world in worlds:
    of = {a["label"]: number(a["regret"]["mean"]) for a in world["agents"]}
    print(f"| {world['label']} | " + " | ".join(of.get(label, "") for label in labels) + " |")


def geometric_mean(label):
    regrets = [a["regret"]["mean"] for w in worlds for a in w["agents"] if a["label"] == label]
    if len(regrets) < len(worlds) or min(regrets) <= 0:
        return ""
    return number(math.exp(sum(map(math.log, regrets)) / len(regrets)))


if sys.argv[3:] == ["mean"]:
    print("| geometric mean | " + " | ".join(map(geometric_mean, labels)) + " |")
print()
