"""Runs a benchmark for a moment, so that none of them rots: moment.py PROGRAM [ARGUMENTS...]

It must succeed and print JSON lines: first the one that names the program, then at least one
figure. JSON has no NaN and no infinity, so a figure that is neither is a failure, too. Nothing is timed here. What the program
leaves in its directory is also a failure. Exit status 77 if the benchmark says by it that something is missing on this machine.
"""

import json
import os
import subprocess
import sys
import tempfile


def refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON")


def fail(why: str) -> None:
    sys.exit(f"moment: {why}")


program = os.path.abspath(sys.argv[1])
command = [*[sys.executable] * program.endswith(".py"), program, *sys.argv[2:], "--moment"]
with tempfile.TemporaryDirectory() as box:
    done = subprocess.run(command, cwd=box, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    left = os.listdir(box)
print(done.stdout, end="")
print(done.stderr, end="", file=sys.stderr)
if done.returncode == 77:
    sys.exit(77)
if done.returncode != 0:
    fail(f"{' '.join(command)}: exit status {done.returncode}")
if left:
    fail(f"it left {', '.join(left)} behind")
lines = done.stdout.splitlines()
for number, line in enumerate(lines, 1):
    try:
        if not isinstance(json.loads(line, parse_constant=refuse), dict):
            fail(f"line {number} is no object: {line}")
    except ValueError as error:
        fail(f"line {number}: {error}: {line}")
named = "python" if program.endswith(".py") else os.path.basename(program).removesuffix("_bench")
if not lines or json.loads(lines[0]).get("bench") != named:
    fail(f"the first line does not name the benchmark {named}")
if len(lines) < 2:
    fail("there are no figures")
