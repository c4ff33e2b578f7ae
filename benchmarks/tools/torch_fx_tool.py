"""torch.fx's subgraph rewriter, on an fx graph of torch functions made from the ONNX model.

It has no file to write.
"""

from __future__ import annotations

from collections import Counter
from typing import Any


class TorchFx:
    jobs = ("convbn", "tt", "ident", "none")
    suffix = "onnx"

    def prepare(self) -> None:
        import onnx
        import onnx.numpy_helper
        import torch
        import torch.fx
        import torch.nn.functional
        from torch.fx import subgraph_rewriter

        self.torch, self.F, self.onnx, self.rewriter = torch, torch.nn.functional, onnx, subgraph_rewriter

    def rules(self, job: str) -> Any:
        torch, F = self.torch, self.F
        match job:
            case "convbn":

                def source(x: Any, w: Any, m: Any, v: Any, g: Any, b: Any) -> Any:
                    return F.batch_norm(F.conv2d(x, w, None, (1, 1), (0, 0)), m, v, g, b, False, 0.1, 1e-5)

                def target(x: Any, w: Any, m: Any, v: Any, g: Any, b: Any) -> Any:
                    k = g * torch.rsqrt(v + 1e-5)
                    return F.conv2d(x, w * k.view(-1, 1, 1, 1), b - m * k, (1, 1), (0, 0))

                return [(source, target)]
            case "ident":
                return [
                    (lambda x: torch.add(x, 0.0), lambda x: x), (lambda x: torch.mul(x, 1.0), lambda x: x),
                ]
        return [(lambda x: torch.permute(torch.permute(x, (0, 2, 3, 1)), (0, 3, 1, 2)), lambda x: x)]

    def load(self, path: str, job: str) -> Any:
        torch, F = self.torch, self.F
        model = self.onnx.load(path).graph
        root, graph = torch.nn.Module(), torch.fx.Graph()
        made: dict[str, Any] = {}
        for weight in model.initializer:
            array = self.onnx.numpy_helper.to_array(weight)
            if array.shape == ():
                made[weight.name] = float(array)
            else:
                root.register_buffer(weight.name, torch.from_numpy(array.copy()))
        for value in model.input:
            made[value.name] = graph.placeholder(value.name)
        functions = {
            "Relu": torch.relu,
            "Sigmoid": torch.sigmoid,
            "Tanh": torch.tanh,
            "Add": torch.add,
            "Mul": torch.mul,
        }
        for call in model.node:
            x = []
            for name in call.input:
                if name not in made:
                    made[name] = graph.get_attr(name)
                x.append(made[name])
            match call.op_type:
                case "Conv":
                    result = graph.call_function(F.conv2d, (x[0], x[1], None, (1, 1), (0, 0)))
                case "BatchNormalization":
                    # Positional and keyword arguments as tracing of F.batch_norm gives them: patterns compare
                    # that too.
                    more = {"weight": x[1], "bias": x[2], "training": False, "momentum": 0.1, "eps": 1e-5}
                    result = graph.call_function(F.batch_norm, (x[0], x[3], x[4]), more)
                case "Transpose":
                    result = graph.call_function(torch.permute, (x[0], tuple(call.attribute[0].ints)))
                case name:
                    result = graph.call_function(functions[name], tuple(x))
            made[call.output[0]] = result
        graph.output(made[model.output[0].name])
        return torch.fx.GraphModule(root, graph)

    def rewrite(self, graph: Any, rules: Any) -> Any:
        for source, target in rules:
            self.rewriter.replace_pattern(graph, source, target)
        return graph

    def save(self, graph: Any, path: str) -> None:
        """There is no file to write."""

    def operators(self, graph: Any) -> Counter[str]:
        names = {
            "conv2d": "Conv",
            "batch_norm": "BatchNormalization",
            "permute": "Transpose",
            "add": "Add",
            "mul": "Mul",
        }
        if any("conv2d" in str(n.target) for n in graph.graph.nodes):
            names.pop("mul"), names.pop("add")  # arithmetic on the new weights
        found = (
            getattr(n.target, "__name__", str(n.target)) for n in graph.graph.nodes if n.op == "call_function"
        )
        return Counter(names.get(name, name) for name in found)
