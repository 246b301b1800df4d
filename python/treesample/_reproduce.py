"""The paper's tables and figures, by the program."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import NamedTuple, Optional, Tuple, Union

from . import _core


class Reproduction(NamedTuple):
    """What `reproduce` printed, and the files that it wrote."""

    text: str
    files: Tuple[Path, ...]

    def __repr__(self) -> str:
        return self.text


def reproduce(
    experiment: str, *, out: Union[str, "os.PathLike[str]", None] = None, program: Optional[str] = None,
    **options: Union[int, bool],
) -> Reproduction:
    """Runs `treesample reproduce`: table1, figure1, depth, functions, memory, calls or table2. Ours beside the paper's numbers.

    `out` is the folder of the results, in which a run that was interrupted goes on; `quick=True` is a look in seconds,
    `instances=150` a number of problems. The other options are those of the program, which is looked for as `program`,
    as $TREESAMPLE_PROGRAM, and on the PATH.

        ts.reproduce("table1", quick=True, out="results")
    """
    found = program or os.environ.get("TREESAMPLE_PROGRAM") or shutil.which("treesample")
    if not found:
        raise _core.Error("reproduce: there is no program 'treesample' on the PATH; program= names one")
    folder = Path(out) if out is not None else Path(f"reproduce-{experiment}")
    flags = []
    for name, value in options.items():
        flag = "--" + name.replace("_", "-")
        if value is True:
            flags.append(flag)
        elif value is not False:
            flags += [flag, str(value)]
    done = subprocess.run([found, "reproduce", experiment, "--out", str(folder), "--quiet", *flags],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        raise _core.Error(f"reproduce: {(done.stderr or done.stdout).strip()}")
    return Reproduction(done.stdout, tuple(sorted(path for path in folder.rglob("*") if path.is_file())))
