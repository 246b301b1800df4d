"""Builds the wheel of the module without anything from outside: CMake makes the files, this puts them into an archive.

A build backend as PEP 517 describes it, small because the package is: no sdist hooks, no options.
"""
import base64
import hashlib
import re
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def _version():
    return re.search(r"project\(treesample VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text()).group(1)


def _tag():
    python = f"cp{sys.version_info.major}{sys.version_info.minor}"
    platform = re.sub(r"[-.]", "_", sysconfig.get_platform())
    return f"{python}-{python}-{platform}"


def _record(name, content):
    digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
    return f"{name},sha256={digest},{len(content)}"


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    build = ROOT / "build-wheel"
    configure = ["cmake", "-S", ROOT, "-B", build, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release", "-DTREESAMPLE_PYTHON=ON",
                 "-DTREESAMPLE_DEVELOPER=OFF", "-DTREESAMPLE_PROGRAM=OFF", f"-DPython_EXECUTABLE={sys.executable}"]
    subprocess.run(configure, check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["cmake", "--build", build, "--target", "treesample_python"], check=True, stdout=subprocess.DEVNULL)

    version, info = _version(), f"treesample-{_version()}.dist-info"
    metadata = (f"Metadata-Version: 2.1\nName: treesample\nVersion: {version}\nRequires-Python: >=3.11\n"
                "Requires-Dist: numpy\nLicense: Apache-2.0\n"
                "Summary: Budgeted inference in discrete distributions by tree search, with certified answers\n")
    wheel = f"Wheel-Version: 1.0\nGenerator: treesample\nRoot-Is-Purelib: false\nTag: {_tag()}\n"
    files = {f"treesample/{path.name}": path.read_bytes()
             for path in sorted((build / "python" / "treesample").iterdir()) if path.is_file()}
    files |= {f"{info}/METADATA": metadata.encode(), f"{info}/WHEEL": wheel.encode(),
              f"{info}/LICENSE": (ROOT / "LICENSE").read_bytes()}
    record = "\n".join([*(_record(name, content) for name, content in files.items()), f"{info}/RECORD,,", ""])
    files[f"{info}/RECORD"] = record.encode()

    name = f"treesample-{version}-{_tag()}.whl"
    target = Path(wheel_directory)
    target.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(target / name, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, content in files.items():
            archive.writestr(path, content)
    return name
