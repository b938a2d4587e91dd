"""The commands of the tutorial, and whether they print what it says.

usage: tutorial.py script CHAPTER       prints the shell blocks (```sh) as one script, which has this program look at each output
       tutorial.py compare CHAPTER LINE OUTPUT   compares the file OUTPUT with the text block (```text) behind the shell block at LINE

A text block belongs to the shell block before it. Each of its lines has to come in the output, in this order, others between them perhaps;
the mark '…' stands for anything, and spaces count as one. A shell block without a text block has to succeed, command by command.
"""

import re
import shlex
import sys


def blocks(chapter):
    """Shell blocks: the line where each begins, its commands, and the lines that are to come of it."""
    found, kind, begin, lines = [], None, 0, []
    for number, line in enumerate(open(chapter, encoding="utf-8").read().splitlines(), 1):
        if not line.startswith("```"):
            if kind is not None:
                lines.append(line)
        elif kind is None:
            kind, begin, lines = line[3:], number, []
        else:
            if kind == "sh":
                found.append((begin, lines, []))
            elif kind == "text":
                found[-1][2].extend(lines)
            kind = None
    return found


def script(chapter):
    compare = f"python3 {shlex.quote(__file__)} compare {shlex.quote(chapter)}"
    for begin, commands, expected in blocks(chapter):
        text = "\n".join(commands)
        if expected:
            # A group is no subshell: variables and jobs live on.
            print(f"set +e\n{{\n{text}\n}} >output 2>&1\nset -e\n{compare} {begin} output")
        else:
            print(f"echo 'line {begin}'\nset -e\n{text}")


def pattern(line):
    parts = [r"\s+".join(re.escape(word) for word in part.split()) for part in line.split("…")]
    return re.compile(r".*".join(parts))


def compare(chapter, begin, output):
    expected = next(lines for at, _, lines in blocks(chapter) if at == begin)
    printed = open(output, encoding="utf-8", errors="replace").read()
    rest = iter(printed.splitlines())
    for line in expected:
        if not any(pattern(line).search(candidate) for candidate in rest):
            sys.exit(f"FAILED: {chapter}:{begin}: no '{line}' in its place in:\n{printed}")
    print(f"ok: line {begin}: {len(expected)} lines are as the chapter shows them")


match sys.argv[1:]:
    case ["script", chapter]:
        script(chapter)
    case ["compare", chapter, begin, output]:
        compare(chapter, int(begin), output)
    case _:
        sys.exit(__doc__)
