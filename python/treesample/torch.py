"""log Z for PyTorch: `log_z(f, *tables)` with f of `Model.log_z_function`. Needs torch."""

from __future__ import annotations

import importlib
from typing import Any

from ._kept import LogZFunction

torch: Any = importlib.import_module("torch")


class _LogZ(torch.autograd.Function):  # type: ignore[misc]
    @staticmethod
    def forward(context: Any, function: LogZFunction, *tables: Any) -> Any:
        value, gradients = function([table.detach().cpu().double().numpy() for table in tables])
        context.gradients = [
            torch.from_numpy(g).to(t.device, t.dtype).reshape(t.shape) for g, t in zip(gradients, tables)
        ]
        return torch.tensor(value, device=tables[0].device, dtype=tables[0].dtype)

    @staticmethod
    def backward(context: Any, above: Any) -> Any:
        return (None, *(above * gradient for gradient in context.gradients))


def log_z(function: LogZFunction, *tables: Any) -> Any:
    """A scalar tensor. `tables` are the logarithms of the parameters, in the order of `function.scopes`."""
    return _LogZ.apply(function, *tables)
