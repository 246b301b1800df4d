"""Builds the wheel of the module without anything from outside: CMake makes the files, this puts them into an archive.

A build backend as PEP 517 (wheels, sdists) and PEP 660 (editable installs) describe it. What CMake prints goes to
standard output, so `pip install -v .` shows the build.
"""
import base64
import hashlib
import io
import re
import subprocess
import sys
import sysconfig
import tarfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build-wheel"
PACKAGE = BUILD / "python" / "treesample"


def _version():
    return re.search(r"project\(treesample VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text()).group(1)


def _tag():
    python = f"cp{sys.version_info.major}{sys.version_info.minor}"
    platform = re.sub(r"[-.]", "_", sysconfig.get_platform())
    return f"{python}-{python}-{platform}"


def _configure():
    subprocess.run(["cmake", "-S", ROOT, "-B", BUILD, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release",
                    "-DTREESAMPLE_PYTHON=ON", "-DTREESAMPLE_DEVELOPER=OFF", "-DTREESAMPLE_PROGRAM=OFF",
                    f"-DPython_EXECUTABLE={sys.executable}"], check=True)


def _build():
    _configure()
    subprocess.run(["cmake", "--build", BUILD, "--target", "treesample_python"], check=True)


def _numpy():
    """A module that was compiled with pybind11 before 2.12 crashes with NumPy 2. Needs _configure()."""
    version = (PACKAGE.parent / "pybind11_version").read_text().split(".")
    return "numpy" if (int(version[0]), int(version[1])) >= (2, 12) else "numpy<2"


def _metadata(requires=()):
    lines = ["Metadata-Version: 2.1", "Name: treesample", f"Version: {_version()}", "Requires-Python: >=3.11",
             *(f"Requires-Dist: {name}" for name in requires), "License: Apache-2.0",
             "Summary: Budgeted inference in discrete distributions by tree search, with certified answers"]
    return "\n".join(lines) + "\n"


def _info_files():
    wheel = f"Wheel-Version: 1.0\nGenerator: treesample\nRoot-Is-Purelib: false\nTag: {_tag()}\n"
    return {"METADATA": _metadata([_numpy()]).encode(), "WHEEL": wheel.encode(),
            "LICENSE": (ROOT / "LICENSE").read_bytes()}


def _write_wheel(folder, files):
    def record(name, content):
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        return f"{name},sha256={digest},{len(content)}"

    info = f"treesample-{_version()}.dist-info"
    files = files | {f"{info}/{name}": content for name, content in _info_files().items()}
    lines = [*(record(name, content) for name, content in files.items()), f"{info}/RECORD,,", ""]
    files[f"{info}/RECORD"] = "\n".join(lines).encode()
    name = f"treesample-{_version()}-{_tag()}.whl"
    Path(folder).mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(Path(folder) / name, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, content in files.items():
            archive.writestr(path, content)
    return name


def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    _configure()
    info = Path(metadata_directory) / f"treesample-{_version()}.dist-info"
    info.mkdir(parents=True, exist_ok=True)
    for name, content in _info_files().items():
        (info / name).write_bytes(content)
    return info.name


prepare_metadata_for_build_editable = prepare_metadata_for_build_wheel


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    _build()
    return _write_wheel(wheel_directory, {f"treesample/{path.name}": path.read_bytes()
                                          for path in sorted(PACKAGE.iterdir()) if path.is_file()})


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    """The compiled part stays in build-wheel; beside it links lead to the Python files of the checkout."""
    _build()
    folder = BUILD / "editable"
    package = folder / "treesample"
    package.mkdir(parents=True, exist_ok=True)
    for path in package.iterdir():
        path.unlink()
    for path in PACKAGE.iterdir():
        source = ROOT / "python" / "treesample" / path.name
        if path.is_file():
            (package / path.name).symlink_to(source if source.exists() else path)
    return _write_wheel(wheel_directory, {"treesample.pth": f"{folder}\n".encode()})


def _source_files():
    """What git tracks; in an unpacked sdist, everything but builds."""
    if (ROOT / ".git").exists():
        tracked = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
        return [ROOT / name for name in tracked.split("\0") if name]
    return [path for path in ROOT.rglob("*") if path.is_file() and not path.relative_to(ROOT).parts[0].startswith("build")]


def build_sdist(sdist_directory, config_settings=None):
    base = f"treesample-{_version()}"
    Path(sdist_directory).mkdir(parents=True, exist_ok=True)
    with tarfile.open(Path(sdist_directory) / f"{base}.tar.gz", "w:gz", format=tarfile.PAX_FORMAT) as archive:
        for path in sorted(_source_files()):
            if path.name != "PKG-INFO":
                archive.add(path, f"{base}/{path.relative_to(ROOT)}", recursive=False)
        content = _metadata().encode()
        entry = tarfile.TarInfo(f"{base}/PKG-INFO")
        entry.size = len(content)
        archive.addfile(entry, io.BytesIO(content))
    return f"{base}.tar.gz"
