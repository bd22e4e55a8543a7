"""What a user does with an emitted folder, without a GPU: compile it, import it, call it wrongly and rightly."""
import argparse
import ctypes
import importlib.util
import json
import pathlib
import py_compile
import re
import subprocess
import sys
import tempfile
import unittest

here = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(here / "fake_torch"))
import torch  # noqa: E402

options = None
work = None


def run(*command, **more):
    return subprocess.run(command, capture_output=True, text=True, **more)


def emit(case):
    folder = work / case
    if not folder.exists():
        done = run(str(options.emit_chain), case, str(folder))
        if done.returncode == 4:
            raise unittest.SkipTest("no NVRTC: " + done.stderr)
        assert done.returncode == 0, done.stderr
    return next(entry for entry in folder.iterdir() if (entry / "manifest.json").exists())


def load(folder, alias=None):
    name = folder.name
    spec = importlib.util.spec_from_file_location(alias or "emitted_" + name, folder / "torch" / (name + ".py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class FakeDriver:
    """Stands for libcuda: hands out functions and notes launches with the argument values of the moment."""

    def __init__(self):
        self.launches, self.loads, self.unloads, self.names = [], 0, 0, {}
        self.missing_entry = None

    def cuModuleLoadData(self, module, image):
        self.loads += 1
        self.image = image
        return 0

    def cuModuleUnload(self, module):
        self.unloads += 1
        return 0

    def cuModuleGetFunction(self, function, module, name):
        if name == self.missing_entry:
            return 500
        function._obj.value = 100 + len(self.names)
        self.names[function._obj.value] = name.decode()
        return 0

    def cuLaunchKernel(self, function, gx, gy, gz, bx, by, bz, shared, stream, arguments, extra):
        values = [ctypes.cast(a, ctypes.POINTER(ctypes.c_uint64))[0] for a in arguments]
        self.launches.append((self.names[function.value], gx.value, bx.value, stream.value or 0, values))
        return 0

    def __getattr__(self, name):
        return lambda *arguments: 0


class Compiled(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.driver = work / "libcuda.so.1"
        done = run(options.compiler, "-std=c++17", "-shared", "-fPIC", "-Wl,-soname,libcuda.so.1", "-isystem",
                   options.cuda_include, str(here / "recording_driver.cpp"), "-o", str(cls.driver))
        assert done.returncode == 0, done.stderr

    def compile(self, case, program):
        folder = emit(case)
        target = folder.parent / "program"
        done = run(options.compiler, "-std=c++17", "-Wall", "-Wextra", "-Werror", "-I" + str(folder), "-isystem",
                   options.cuda_include, str(folder / (folder.name + ".cpp")), str(program), str(self.driver),
                   "-pthread", "-Wl,-rpath," + str(work), "-o", str(target))
        self.assertEqual(done.returncode, 0, done.stderr)
        return target

    def test_launcher_and_example_compile_without_a_warning(self):
        for case in ("float32", "float16", "bfloat16", "odd_names", "wide"):
            with self.subTest(case=case):
                self.compile(case, emit(case) / "example.cpp")

    def test_the_example_tells_a_driver_that_computes_nothing_from_one_that_does(self):
        done = run(str(self.compile("float32", emit("float32") / "example.cpp")))
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertIn("1000 elements, ", done.stdout)

    def test_the_example_does_not_launch_before_its_copies_are_done(self):
        # The stand-in driver fails such a launch.
        done = run(str(self.compile("float32", emit("float32") / "example.cpp")))
        self.assertNotIn("cuLaunchKernel", done.stderr)

    def test_lines_of_the_emitted_text_are_of_a_readable_length(self):
        folder = emit("wide")
        for name in ("wide.hpp", "wide.cpp", "example.cpp", "wide.cu", "README.md", "torch/wide.py"):
            for number, line in enumerate((folder / name).read_text().splitlines(), 1):
                if not line.startswith("|") and '"' not in line:  # rows of tables and strings are not broken
                    self.assertLessEqual(len(line), 120, f"{name}:{number}: {line}")

    def test_the_launcher_guards_shape_alignment_context_and_device(self):
        done = run(str(self.compile("float32", here / "launcher_check.cpp")))
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_the_folder_builds_with_cmake(self):
        folder = emit("float32")
        build = work / "cmake_build"
        done = run("cmake", "-S", str(folder), "-B", str(build), "-DCUDA_DRIVER_INCLUDE_DIR=" + options.cuda_include,
                   "-DCUDA_DRIVER_LIBRARY=" + str(self.driver), "-DCMAKE_CXX_COMPILER=" + options.compiler)
        self.assertEqual(done.returncode, 0, done.stderr)
        done = run("cmake", "--build", str(build))
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertTrue((build / "add_relu_example").exists())


class Module(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.module = load(emit("float32"))
        cls.call = staticmethod(cls.module.add_relu)

    def setUp(self):
        self.driver = FakeDriver()
        self.module._cuda = self.driver
        self.module._functions.clear()
        self.module._thread.launchers.clear()
        torch.state.__dict__.update(compiling=False, grad=True, device=0, stream=0, capability=(9, 0), transform=None)

    def tensors(self, **changes):
        return [torch.Tensor((1000,), torch.float32, **changes) for _ in range(3)]

    def refused(self, error, words, a, b, c):
        with self.assertRaises(error) as caught:
            self.call(a, b, c)
        for word in words:
            self.assertIn(word, str(caught.exception))
        self.assertEqual(self.driver.launches, [])

    def test_a_call_launches_once_with_the_pointers_in_order(self):
        a, b, c = self.tensors()
        out = self.call(a, b, c)
        self.assertEqual((out.shape, out.dtype), ((1000,), torch.float32))
        (entry, blocks, threads, stream, values), = self.driver.launches
        self.assertEqual(values, [t.data_ptr() for t in (a, b, c, out)])
        self.assertEqual((entry.encode(), blocks, threads), self.module._ENTRIES[0])
        self.assertEqual(stream, 0)

    def test_a_shifted_pointer_takes_the_general_entry(self):
        a, b, _ = self.tensors()
        self.call(a, b, torch.Tensor((1000,), torch.float32, shift=1))
        self.assertEqual(self.driver.launches[0][0].encode(), self.module._ENTRIES[-1][0])

    def test_the_module_is_loaded_once_for_a_device(self):
        for _ in range(3):
            self.call(*self.tensors())
        self.assertEqual((self.driver.loads, len(self.driver.launches)), (1, 3))

    def test_another_device_is_made_current_for_the_call(self):
        out = self.call(*self.tensors(device=1))
        self.assertEqual(out.get_device(), 1)
        self.assertEqual(torch.state.device, 0)

    def test_on_a_side_stream_inputs_and_output_are_kept_for_it(self):
        torch.state.stream = 77
        a, b, c = self.tensors()
        self.call(a, b, c)
        self.assertEqual(self.driver.launches[0][3], 77)
        self.assertTrue(all(len(t.streams) == 1 for t in (a, b, c)))

    def test_wrong_inputs_are_refused_with_their_names(self):
        a, b, c = self.tensors()
        self.refused(ValueError, ["b must be float32[1000]", "float32[999]"], a, torch.Tensor((999,), torch.float32), c)
        self.refused(ValueError, ["c must be float32[1000]", "float16"], a, b, torch.Tensor((1000,), torch.float16))
        self.refused(ValueError, ["a must be on a CUDA device"], torch.Tensor((1000,), torch.float32, device=-1), b, c)
        self.refused(ValueError, ["one device"], a, b, torch.Tensor((1000,), torch.float32, device=1))

    def test_what_is_no_tensor_is_refused(self):
        a, b, _ = self.tensors()
        self.refused(TypeError, ["c must be a torch.Tensor, not float"], a, b, 0.5)

    def test_a_tensor_that_requires_gradients_is_refused_unless_they_are_off(self):
        a, b, c = self.tensors()
        a.requires_grad = True
        self.refused(RuntimeError, ["a requires gradients", "no_grad"], a, b, c)
        torch.state.grad = False
        self.call(a, b, c)
        self.assertEqual(len(self.driver.launches), 1)

    def test_an_input_that_is_not_contiguous_is_copied_first(self):
        a, b, c = self.tensors()
        strided = torch.Tensor((1000,), torch.float32, contiguous=False)
        self.call(strided, b, c)
        self.assertNotEqual(self.driver.launches[0][4][0], strided.data_ptr())

    def test_an_unsupported_device_gets_one_error_with_what_is_held(self):
        torch.state.capability = (7, 5)
        self.refused(RuntimeError, ["sm_75", "sm_90", "compute_90 and later"], *self.tensors())

    def test_a_later_device_takes_the_ptx(self):
        torch.state.capability = (12, 0)
        self.call(*self.tensors())
        self.assertIn(b".target", self.driver.image)

    def calls_of_the_operator(self):
        calls = []
        kept, torch.ops.deepjit.add_relu = torch.ops.deepjit.add_relu, lambda *tensors: calls.append(tensors)
        self.call(*self.tensors())
        torch.ops.deepjit.add_relu = kept
        self.assertEqual(self.driver.launches, [])
        return len(calls)

    def test_under_torch_compile_the_registered_operator_is_called(self):
        torch.state.compiling = True
        self.assertEqual(self.calls_of_the_operator(), 1)

    def test_inside_vmap_the_registered_operator_is_called(self):
        torch.state.transform = "vmap"
        self.assertEqual(self.calls_of_the_operator(), 1)

    def test_a_lazily_negated_input_is_resolved_first(self):
        a, b, _ = self.tensors()
        negated = torch.Tensor((1000,), torch.float32, neg=True)
        self.call(a, b, negated)
        self.assertNotEqual(self.driver.launches[0][4][2], negated.data_ptr())

    def test_a_module_that_lacks_a_kernel_is_unloaded_and_the_kernel_named(self):
        self.driver.missing_entry = b"add_relu_scalar"
        self.refused(RuntimeError, ["cuModuleGetFunction(add_relu_scalar)", "500"], *self.tensors())
        self.assertEqual((self.driver.loads, self.driver.unloads), (1, 1))

    def test_the_fake_function_gives_shape_and_dtype(self):
        fake = torch.library.fakes["deepjit::add_relu"](*self.tensors())
        self.assertEqual((fake.shape, fake.dtype), ((1000,), torch.float32))

    def test_a_driver_error_is_named(self):
        self.driver.cuLaunchKernel = lambda *arguments: 700
        self.refused(RuntimeError, ["cuLaunchKernel failed", "700"], *self.tensors())

    def test_the_file_may_be_imported_twice_but_not_beside_another_chain_of_its_name(self):
        load(emit("float32"), "again")
        with self.assertRaises(ImportError):
            load(emit("float16"), "other")


class Names(unittest.TestCase):
    def test_a_call_with_more_operands_than_fit_in_a_line(self):
        module = load(emit("wide"))
        module._cuda = driver = FakeDriver()
        out = module.wide(*(torch.Tensor((4099,), torch.float32) for _ in range(9)))
        self.assertEqual((out.shape, len(driver.launches[0][4])), ((4099,), 10))

    def test_words_of_python_and_several_outputs(self):
        folder = emit("odd_names")
        self.assertEqual(folder.name, "lambda_kernel")
        py_compile.compile(str(folder / "torch" / "lambda_kernel.py"), doraise=True, cfile=str(folder.parent / "x.pyc"))
        module = load(folder)
        self.assertIsNone(module._cuda, "importing must not open the driver")
        module._cuda = FakeDriver()
        first, second = module.lambda_kernel(torch.Tensor((3, 11), torch.float16), torch.Tensor((3, 11), torch.bfloat16))
        self.assertEqual((first.dtype, first.shape, second.dtype), (torch.float16, (3, 11), torch.float32))


class Files(unittest.TestCase):
    def test_the_manifest_lists_every_file(self):
        folder = emit("float32")
        manifest = json.loads((folder / "manifest.json").read_text())
        found = {str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file() and p.suffix != ".pyc"}
        self.assertEqual(set(manifest["files"]) | {"manifest.json"}, found)

    def test_verify_json_says_that_nothing_was_run(self):
        verdict = json.loads((emit("float32") / "verify.json").read_text())
        self.assertEqual((verdict["status"], verdict["reason"]), ("not run", "this is a test"))
        self.assertFalse((emit("float32") / "bench.json").exists())

    def test_the_readme_lists_the_files_that_are_there_and_no_others(self):
        folder = emit("float32")
        table = (folder / "README.md").read_text().split("## Files")[1]
        named = set(re.findall(r"`([^` ]+\.[a-z0-9_]+)`", table)) - {"DIR"}
        found = {str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file() and p.suffix != ".pyc"}
        self.assertEqual(named, found - {"README.md"})

    def test_readme_header_and_kernel_tell_the_same_rules_of_the_pointers(self):
        folder = emit("float32")
        words = lambda name: " ".join((folder / name).read_text().replace("///", " ").split())
        rules = ("Where all are multiples of 8 bytes, `add_relu_vector` runs",
                 "An output must not overlap an input or another output.", "No pointer may be null")
        for rule in rules:
            self.assertIn(rule, words("README.md"))
            self.assertIn(rule, words("add_relu.hpp"))
        self.assertIn("add_relu_vector needs every pointer aligned to 8 bytes", words("add_relu.cu"))
        self.assertIn(") & 7) == 0", words("add_relu.cpp"))
        self.assertNotIn("16 bytes", words("README.md") + words("add_relu.hpp"))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    for option in ("--emit-chain", "--compiler", "--cuda-include"):
        parser.add_argument(option, required=True)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        unittest.main(argv=[sys.argv[0]])
