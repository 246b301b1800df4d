"""Perceptrons of `treesample train --architecture mlp` in NumPy and PyTorch: docs/network_file.md has the layout.

    network = read("run/network.safetensors")
    q = network.q_values(2, [[0, 1, -1, -1]])     # of variable 2, given x0 = 0 and x1 = 1
    write("mine.safetensors", network)            # for treesample infer --leaf net:mine.safetensors
    module = to_torch(network)                    # a torch.nn.Sequential over network.inputs(variable, prefixes)
    network = from_torch(module, num_variables=4, num_states=2)

It is also a value function in a program of its own, of the network and the model that the environment names:

    NETWORK=run/network.safetensors MODEL=model.uai treesample infer model.uai --leaf program:perceptron.py
"""

import json
import os
import struct

import numpy as np


class Perceptron:
    """Linear layers, given as (weight, bias) with weights of shape (inputs, outputs), and ReLU between them."""

    def __init__(self, num_variables, num_states, layers):
        self.num_variables = num_variables
        self.num_states = num_states
        self.layers = [(np.asarray(weight, np.float32), np.asarray(bias, np.float32)) for weight, bias in layers]

    def inputs(self, variable, prefixes):
        """The states one-hot, 0 for -1 (open), then the variable that is asked for one-hot."""
        prefixes = np.asarray(prefixes, np.int32).reshape(-1, self.num_variables)
        states = prefixes[:, :, None] == np.arange(self.num_states)
        asked = np.broadcast_to(np.arange(self.num_variables) == variable, prefixes.shape)
        return np.concatenate([states.reshape(len(prefixes), -1), asked], axis=1).astype(np.float32)

    def q_values(self, variable, prefixes):
        values = self.inputs(variable, prefixes)
        for i, (weight, bias) in enumerate(self.layers):
            values = values @ weight + bias
            if i + 1 < len(self.layers):
                values = np.maximum(values, 0)
        return values


def read(path):
    with open(path, "rb") as file:
        size, = struct.unpack("<Q", file.read(8))
        header = json.loads(file.read(size))
        data = file.read()
    metadata = header.pop("__metadata__")
    if (metadata.get("format"), metadata.get("architecture")) != ("treesample-network", "mlp"):
        raise ValueError(f"{path} holds no perceptron of treesample")
    tensors = {}
    for name, tensor in header.items():
        begin, end = tensor["data_offsets"]
        tensors[name] = np.frombuffer(data[begin:end], "<f4").reshape(tensor["shape"])
    layers = [(tensors[f"layer{i}.weight"], tensors[f"layer{i}.bias"]) for i in range(len(tensors) // 2)]
    return Perceptron(int(metadata["num_variables"]), int(metadata["num_states"]), layers)


def write(path, network):
    hidden = [weight.shape[1] for weight, _ in network.layers[:-1]]
    header = {"__metadata__": {
        "format": "treesample-network", "format_version": "1", "library_version": "", "architecture": "mlp",
        "num_variables": str(network.num_variables), "num_states": str(network.num_states),
        "hidden": json.dumps(hidden)}}
    data = b""
    for i, layer in enumerate(network.layers):
        for name, tensor in zip(("weight", "bias"), layer):
            content = np.ascontiguousarray(tensor, "<f4").tobytes()
            header[f"layer{i}.{name}"] = {"dtype": "F32", "shape": list(tensor.shape),
                                          "data_offsets": [len(data), len(data) + len(content)]}
            data += content
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + data)


def to_torch(network):
    import torch
    modules = []
    for weight, bias in network.layers:
        layer = torch.nn.Linear(*weight.shape)
        layer.weight.data = torch.tensor(weight.T)  # PyTorch stores (outputs, inputs)
        layer.bias.data = torch.tensor(bias)
        modules += [layer, torch.nn.ReLU()]
    return torch.nn.Sequential(*modules[:-1])


def from_torch(module, num_variables, num_states):
    layers = [layer for layer in module if hasattr(layer, "weight")]
    return Perceptron(num_variables, num_states,
                      [(layer.weight.detach().numpy().T, layer.bias.detach().numpy()) for layer in layers])


def offsets(path):
    """What is added to the network's output, by variable, for a model in UAI format in its given order."""
    with open(path, encoding="utf-8") as file:
        numbers = iter(file.read().split()[1:])
    num_states = [int(next(numbers)) for _ in range(int(next(numbers)))]
    scopes = [[int(next(numbers)) for _ in range(int(next(numbers)))] for _ in range(int(next(numbers)))]
    values = np.log(num_states)
    values = values[::-1].cumsum()[::-1] - values  # log of the number of states of the later variables
    for scope in scopes:
        table = np.array([float(next(numbers)) for _ in range(int(next(numbers)))])
        values[:max(scope) + 1] += np.log(table.mean())  # its last variable decides the factor
    return values


if "NETWORK" in os.environ:
    NETWORK = read(os.environ["NETWORK"])
    OFFSETS = offsets(os.environ["MODEL"])


def leaf(variable, prefixes):
    v = int(variable[1:])  # variables without a name are x0, x1, ...
    return NETWORK.q_values(v, prefixes) + OFFSETS[v]
