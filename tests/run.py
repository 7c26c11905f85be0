"""Every check of the project, in one command: ``python tests/run.py [pytest options]``."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BIN = Path(sys.executable).parent

CHECKS = [
    ["ruff", "check", "."],
    ["ruff", "format", "--check", "."],
    ["mypy"],
    ["lint-imports", "--no-cache"],
]


def main() -> int:
    """Run the linters, then the tests; 0 only if all of them pass."""
    failed = []
    for command in CHECKS:
        sys.stdout.write(f"$ {' '.join(command)}\n")
        sys.stdout.flush()
        if subprocess.run([BIN / command[0], *command[1:]], cwd=ROOT, check=False).returncode:
            failed.append(command[0])
    tests = subprocess.run(
        [sys.executable, "-m", "pytest", *sys.argv[1:]], cwd=ROOT, check=False
    ).returncode
    if failed:
        sys.stdout.write(f"Failed before the tests: {', '.join(failed)}\n")
    return tests or bool(failed)


if __name__ == "__main__":
    sys.exit(main())
