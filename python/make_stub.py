"""Writes the types of attributes that are made from the table of results: make_stub.py CORE ANSWER_PY STUB"""
import ast
import importlib.util
import pathlib
import sys

core, answer, stub = sys.argv[1:]
spec = importlib.util.spec_from_file_location("_core", core)
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
classes = [node for node in ast.parse(pathlib.Path(answer).read_text()).body if isinstance(node, ast.ClassDef)]
by_hand = {node.name for known in classes if known.name == "Answer" for node in known.body
           if isinstance(node, ast.FunctionDef)}
lines = ['"""Made from the table of results by python/make_stub.py."""', "", "from typing import Any, Optional", "",
         "def numbers_in(value: Any) -> Any: ...", "", "class Results:", "    def _result(self, name: str) -> Any: ..."]
for name, kind, text in module.results():
    if name not in by_hand:
        lines += ["    @property", f"    def {name}(self) -> {kind}: ..."]
pathlib.Path(stub).write_text("\n".join(lines) + "\n")
