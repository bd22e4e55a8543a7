"""Just enough of torch for an emitted module to be imported and called without torch or a GPU.

Tensors own host memory. The driver is replaced by the test (see check_emitted.py).
"""
import ctypes
from types import SimpleNamespace

from . import library  # noqa: F401


class dtype:
    def __init__(self, name, size):
        self.name, self.itemsize = name, size

    def __repr__(self):
        return "torch." + self.name


float32, float16, bfloat16 = dtype("float32", 4), dtype("float16", 2), dtype("bfloat16", 2)
float64, int32 = dtype("float64", 8), dtype("int32", 4)


class Tensor:
    def __init__(self, shape, dtype, device=0, contiguous=True, requires_grad=False, shift=0, neg=False):
        self.shape, self.dtype, self.requires_grad = tuple(shape), dtype, requires_grad
        self._index, self._contiguous, self._neg, self.streams = device, contiguous, neg, []
        count = 1
        for extent in shape:
            count *= extent
        self._memory = ctypes.create_string_buffer(count * dtype.itemsize + 512)
        self._address = (ctypes.addressof(self._memory) + 255) // 256 * 256 + shift * dtype.itemsize

    @property
    def is_cuda(self):
        return self._index >= 0

    @property
    def device(self):
        return f"cuda:{self._index}" if self.is_cuda else "cpu"

    def get_device(self):
        return self._index

    def is_contiguous(self):
        return self._contiguous

    def contiguous(self):
        return self if self._contiguous else Tensor(self.shape, self.dtype, self._index, neg=self._neg)

    def is_neg(self):
        return self._neg

    def resolve_neg(self):
        return Tensor(self.shape, self.dtype, self._index, self._contiguous) if self._neg else self

    def data_ptr(self):
        return self._address

    def new_empty(self, shape, dtype):
        return Tensor(shape, dtype, self._index)

    def record_stream(self, stream):
        self.streams.append(stream)


def empty_like(tensor):
    return Tensor(tensor.shape, tensor.dtype, tensor._index)


def empty(shape, dtype, device):
    return Tensor(shape, dtype, int(device.split(":")[1]))


class Parameter(Tensor):
    pass


nn = SimpleNamespace(Parameter=Parameter)
state = SimpleNamespace(compiling=False, grad=True, device=0, stream=0, capability=(9, 0), transform=None)
compiler = SimpleNamespace(is_compiling=lambda: state.compiling)
ops = SimpleNamespace(deepjit=SimpleNamespace())
Tag = SimpleNamespace(pt2_compliant_tag="pt2_compliant_tag")
_C = SimpleNamespace(_functorch=SimpleNamespace(peek_interpreter_stack=lambda: state.transform))


def is_grad_enabled():
    return state.grad


class _Device:
    def __init__(self, index):
        self.index = index

    def __enter__(self):
        self.before, state.device = state.device, self.index

    def __exit__(self, *_):
        state.device = self.before


cuda = SimpleNamespace(device=_Device, current_device=lambda: state.device,
                       current_stream=lambda device=None: SimpleNamespace(cuda_stream=state.stream),
                       get_device_capability=lambda device=None: state.capability)
