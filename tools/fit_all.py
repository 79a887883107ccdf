"""``baytree fit FILE --target target`` on every CSV file of a folder, by the command installed beside Python."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path


def main(folder: str) -> None:
    """Print a line for each file; fail where a fit does."""
    command = Path(sys.executable).with_name("baytree")
    failed = 0
    for path in sorted(Path(folder).glob("*.csv")):
        start = time.perf_counter()
        done = subprocess.run([command, "fit", path, "--target", "target"], capture_output=True, text=True, check=False)
        task = next((line for line in done.stdout.splitlines() if line.startswith("'target'")), done.stderr.strip())
        print(f"{path.name:26s} {time.perf_counter() - start:5.1f} s  {task}", flush=True)
        failed += done.returncode != 0
    if failed:
        sys.exit(f"{failed} failed.")


if __name__ == "__main__":
    main(sys.argv[1])
