"""Where numbers come from, for the first line of a CSV file: the commit of this folder and the processor."""
import os
import pathlib
import platform
import subprocess


def git(*words):
    here = pathlib.Path(__file__).parent
    return subprocess.run(["git", "-C", str(here), *words], check=True, capture_output=True, text=True).stdout.strip()


def provenance():
    changed = "-changed" if git("status", "--porcelain", "--untracked-files=no") else ""
    processor = platform.machine()
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            processor = line.split(": ", 1)[1]
            break
    return f"commit {git('rev-parse', '--short=12', 'HEAD')}{changed}; processor {processor}, {os.cpu_count()} cores"
