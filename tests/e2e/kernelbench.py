# SPDX-License-Identifier: Apache-2.0
"""A checkout in the shape of KernelBench's, with problems and a checker of its own, for end_to_end.py."""

PROBLEMS = {
    "1_Relu.py": """
import torch
import torch.nn as nn

class Model(nn.Module):
    def forward(self, x):
        return torch.relu(x) * 2.0

rows = 65536
columns = 16384

def get_inputs():
    return [torch.rand(rows, columns)]

def get_init_inputs():
    return []
""",
    "2_Even.py": "raise RuntimeError('nobody asked for this one')\n",
    "3_Sum.py": """
import torch
import torch.nn as nn

class Model(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.dim = dim

    def forward(self, x):
        return torch.sum(x, dim=self.dim, keepdim=True)

batch_size = 256
width = 65536

def get_inputs():
    return [torch.rand(batch_size, width)]

def get_init_inputs():
    return [1]
""",
    "5_Untraceable.py": """
import torch
import torch.nn as nn

class Model(nn.Module):
    def forward(self, x):
        return x if x.sum() > 0 else -x

def get_inputs():
    return [torch.rand(4, 4)]

def get_init_inputs():
    return []
""",
}

# The functions that are called, by their names and arguments.
CHECKER = """
import torch
import not_installed_anywhere

class KernelExecResult(not_installed_anywhere.BaseModel):
    pass

def set_seed(seed):
    torch.manual_seed(seed)

def load_original_model_and_inputs(text, context):
    exec(text, context)
    return context["Model"], context["get_init_inputs"], context["get_inputs"]

def load_custom_model(text, context, build_directory):
    exec(text, context)
    return context["ModelNew"]

def _process_input_tensor(value, device, backend, precision):
    return value.to(dtype=precision, device=device) if isinstance(value, torch.Tensor) else value

def run_and_check_correctness(original, new, get_inputs, metadata, trials, verbose, seed, device, backend, precision):
    passed = 0
    with torch.no_grad():
        for trial in range(trials):
            torch.manual_seed(seed + trial)
            inputs = [_process_input_tensor(value, device, backend, precision) for value in get_inputs()]
            torch.cuda.synchronize(device=device)
            passed += bool(torch.allclose(original(*inputs), new(*inputs), atol=1e-4, rtol=1e-4))
    metadata["correctness_trials"] = f"({passed} / {trials})"
    return KernelExecResult(correctness=passed == trials, metadata=metadata)
"""


def write_checkout(folder):
    """Makes the checkout in `folder` and returns it."""
    problems = folder / "KernelBench" / "level1"
    package = folder / "src" / "kernelbench"
    problems.mkdir(parents=True)
    package.mkdir(parents=True)
    for name, text in PROBLEMS.items():
        (problems / name).write_text(text, encoding="utf-8")
    (package / "__init__.py").write_text("", encoding="utf-8")
    (package / "eval.py").write_text(CHECKER, encoding="utf-8")
    return folder
