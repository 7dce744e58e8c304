"""Names and behaviours that the five documents of torch's eras show, row by row, with the test that proves each row.

S0 notes on 0.1.12; S1 a reference page of 1.x; S2 a tutorial of 0.3 run on 1.x; S3 the reference page of 0.2 and 0.3; S4 a
notebook of 1.x. A row without a test does not hold, and says what it needs.
"""

from __future__ import annotations

from typing import NamedTuple

GPU = "a GPU"


class Row(NamedTuple):
    number: int
    documents: str
    what: str
    test: str = ""  # file of tests/ and function, "documents/test_s1.py::test_example"
    needs: str = ""


def _rows(text: str) -> list[Row]:
    rows = []
    for line in text.strip().splitlines():
        number, documents, what, test = [part.strip() for part in line.split(" | ")]
        needs = test.removeprefix("needs ") if test.startswith("needs ") else ""
        rows.append(Row(int(number), documents, what, "" if needs else test, needs))
    return rows


ROWS = _rows("""
1 | S0 S3 | `autograd.backward(variables, grad_variables, retain_variables)`: by position, and by every name of every era | documents/test_s0.py::test_backward_of_variables
2 | S1 | `backward(tensors, grad_tensors, retain_graph, create_graph, grad_variables)`: the signature of 1.x | documents/test_s1.py::test_signature_of_backward
3 | S0 S1 S3 | more than one element: a gradient is needed, of the same shape; one element is a scalar | documents/test_s0.py::test_a_non_scalar_needs_its_gradient_and_lengths_match
4 | S0 S1 S2 S3 | gradients add up in `.grad`; every idiom of zeroing it | eras/test_spellings.py::test_zeroing_idioms
5 | S0 S1 S3 S4 | buffers are freed: a second backward raises unless they were retained | documents/test_s0.py::test_retain_variables
6 | S3 S4 | `retain_graph=None` means what `create_graph` is | eras/test_spellings.py::test_retain_graph_none_defaults_to_create_graph
7 | S1 S3 S4 | `create_graph=True` records the pass; `None` asks whether a given gradient requires grad | eras/test_spellings.py::test_create_graph_none_asks_the_given_gradients
8 | S3 | no history goes through gradients given without `create_graph` | documents/test_s3.py::test_create_graph_defaults_to_whether_a_gradient_has_history
9 | S1 | `autograd.grad` returns a tuple and leaves `.grad` alone | documents/test_s1.py::test_grad_returns_a_tuple_and_leaves_grad_alone
10 | S3 | `grad` in the form of 0.2 | documents/test_s3.py::test_create_graph_defaults_to_whether_a_gradient_has_history
11 | S1 S3 | `only_inputs=False` also accumulates into the other leaves | documents/test_s3.py::test_only_inputs_false
12 | S1 | an unused input is an error; `allow_unused=True` gives None | documents/test_s1.py::test_unused_inputs
13 | S1 | `no_grad` as a context | documents/test_s1.py::test_example
14 | S1 | `no_grad` as a decorator, with and without parentheses | autograd/test_grad_mode.py::test_decorated_function
15 | S1 | `enable_grad` as context and decorator | documents/test_s1.py::test_example
16 | S1 | `set_grad_enabled` as context and as call; per thread | autograd/test_grad_mode.py::test_set_grad_enabled_as_a_call
17 | S1 | Python integers with `requires_grad=True` become floats | documents/test_s1.py::test_integer_data_with_requires_grad_becomes_the_default_float
18 | S1 | the modes as `torch.x` and as `torch.autograd.x` | autograd/test_grad_mode.py::test_the_modes_are_reachable_by_every_name
19 | S0 S3 | `Variable(data, requires_grad, volatile)` shares the data; every tensor is one | autograd/test_variable.py::test_a_variable_shares_the_data
20 | S2 S4 | `from torch.autograd import Variable` and `variable`, a module that can be called | autograd/test_variable.py::test_the_modules_two_faces
21 | S0 S2 S3 | `.data`: the same memory without history; writes through it go unnoticed | autograd/test_leaves.py::test_a_write_through_data_is_not_noticed
22 | S0 S3 | `.grad`: None at first, then of the tensor's shape and dtype; assignment is checked | autograd/test_leaves.py::test_grad_can_be_assigned
23 | S2 S4 | `.grad` of a non-leaf is None after backward | documents/test_s3.py::test_attributes
24 | S0 S2 S3 | `.requires_grad` spreads; it is settable on leaves only | autograd/test_leaves.py::test_requires_grad_of_a_non_leaf_is_fixed
25 | S4 | `requires_grad` of a, b and a + b as printed | documents/test_s4.py::test_cell_shows
26 | S0 S2 S3 | `volatile` makes everything downstream volatile, and warns | eras/test_volatile.py::test_everything_downstream_is_volatile
27 | S0 S3 | backward from a volatile tensor, and hooks on one, are refused | eras/test_volatile.py::test_backward_is_refused
28 | S2 | the warning stands at the caller's line | eras/test_volatile.py::test_the_flag_warns_once_a_place_and_names_its_successor
29 | S0 | `.creator` is `grad_fn` | eras/test_spellings.py::test_creator
30 | S2 S3 S4 | `.grad_fn` is None on leaves | documents/test_s4.py::test_cell_shows
31 | S3 S4 | `.is_leaf` as printed | documents/test_s4.py::test_cell_shows
32 | S0 S3 | `x.backward(gradient, retain_variables)` | documents/test_s3.py::test_backward_of_a_variable
33 | S4 | `x.backward(grad_variables=, retain_graph=, create_graph=None)`; two names at once are a TypeError | eras/test_spellings.py::test_both_spellings_at_once_are_refused
34 | S0 | the gradient has the tensor's shape; another floating dtype is cast | documents/test_s0.py::test_a_non_scalar_needs_its_gradient_and_lengths_match
35 | S0 S3 | `detach()` shares memory and version check; volatile stays | documents/test_s0.py::test_detach
36 | S0 S3 | `detach_()` makes a leaf | documents/test_s0.py::test_detach_in_place
37 | S0 S3 | `register_hook`: called with every gradient; what it returns takes its place | autograd/test_hooks.py::test_the_result_of_a_hook_replaces_the_gradient
38 | S0 S3 | the handle removes the hook, any number of times, and is a context manager | autograd/test_hooks.py::test_remove_ends_a_hook_any_number_of_times
39 | S0 S3 | the example of the doubled gradient | documents/test_s0.py::test_example_shows
40 | S2 | the handle's printed form | documents/test_s2.py::test_handle_and_node_in_plain_python
41 | S2 | the hook that prints `tensor([5.5940])` | documents/test_s2.py::test_hook_prints_the_gradient
42 | S0 S3 | `reinforce(reward)`; without a reward backward raises | eras/test_reinforce.py::test_a_missing_reward
43 | S0 S3 | stochastic nodes of bernoulli, multinomial and normal, with the gradient of -reward * log p | eras/test_reinforce.py::test_several_actions_without_gradients
44 | S3 | `retain_grad()` | documents/test_s3.py::test_retain_grad
45 | S0 S2 S3 S4 | in-place operations, checked by version | documents/test_s3.py::test_a_write_that_would_falsify_a_gradient_is_an_error
46 | S3 | a leaf that requires grad is not written | documents/test_s3.py::test_a_leaf_is_not_written
47 | S3 | Variables wherever tensors go | documents/test_s3.py::test_variables_take_the_place_of_tensors
48 | S0 S1 S3 | every operation leaves a node; the pass runs them in topological order | documents/test_s3.py::test_nodes_run_in_topological_order_the_newest_first
49 | S1 S2 | static Functions: `Exp` and `custom_add` as written | documents/test_s1.py::test_exp_function
50 | S0 S2 | instance Functions: `F(args)(x)` | eras/test_instance_functions.py::test_arguments_go_to_init
51 | S3 | any number of tensors in and out | eras/test_instance_functions.py::test_several_inputs_and_outputs
52 | S0 | an instance's backward sees tensors without history; not twice differentiable | eras/test_instance_functions.py::test_differentiable_once
53 | S0 S1 S3 | `save_for_backward` of inputs, outputs and None; writes since are noticed | eras/test_instance_functions.py::test_saved_tensors_must_not_be_written
54 | S0 S1 S3 | `saved_tensors` is a tuple | autograd/test_function.py::test_saved_tensors_return_the_tensors_that_were_saved
55 | S3 | `saved_variables` | documents/test_s3.py::test_saved_variables_have_history
56 | S0 S1 S3 | `needs_input_grad`: one bool an input | eras/test_instance_functions.py::test_the_instance_is_the_node
57 | S0 S3 | `num_inputs`, `num_outputs`, `requires_grad` on every node | eras/test_spellings.py::test_numbers_of_inputs_and_outputs
58 | S2 S4 | nodes print as torch's do, in Python and in IPython | documents/test_s4.py::test_plain_python_shows_nodes_as_objects
59 | S4 | `next_functions` name the very nodes | documents/test_s4.py::test_next_functions_name_the_same_nodes
60 | S4 | `(None, 0)` for inputs that need no gradient | documents/test_s4.py::test_cell_shows
61 | S0 | `previous_functions`: (function, index), with names | eras/test_spellings.py::test_previous_functions
62 | S0 S3 | `mark_dirty` | documents/test_s0.py::test_mark_dirty
63 | S0 | `mark_non_differentiable`: None in an instance's backward, zeros in a static one | eras/test_instance_functions.py::test_a_non_differentiable_output_has_no_gradient_at_all
64 | S0 | `mark_shared_storage` merges version counters | eras/test_instance_functions.py::test_shared_storage
65 | S3 | an instance is used once | eras/test_instance_functions.py::test_an_instance_is_used_once
66 | S2 | `Variable(...).cuda()` prints `grad_fn=<CopyBackwards>` | core/test_devices.py::test_copies_to_a_device_and_back_print_as_document_s2_prints_them
67 | S2 | `a.data` on a GPU | core/test_devices.py::test_copies_to_a_device_and_back_print_as_document_s2_prints_them
68 | S2 | `a.cpu()` back from a GPU | core/test_devices.py::test_copies_to_a_device_and_back_print_as_document_s2_prints_them
69 | S2 | a + 2*b + c and its gradients as printed | documents/test_s2.py::test_cell_shows
70 | S2 | what does not require grad has no `.grad` | documents/test_s2.py::test_cell_shows
71 | S2 | `grad_fn=<custom_addBackward>` | documents/test_s2.py::test_a_function_class_has_a_node_class_of_its_own_name
72 | S2 | `apply` is a plain callable | autograd/test_function.py::test_apply_is_a_plain_callable
73 | S2 | `gradcheck(...)` prints True | documents/test_s2.py::test_cell_shows
74 | S2 | a float64 leaf from `.double()` | documents/test_s2.py::test_cell_shows
75 | S2 | `profiler.profile()` as a context, and its table | documents/test_s2.py::test_profilers_table
76 | S2 | the table's header | documents/test_s2.py::test_profilers_table
77 | S2 | the table's rows | documents/test_s2.py::test_rows_of_the_profilers_table
78 | S2 | its times and shares | documents/test_s2.py::test_times_and_shares_of_the_profiler
79 | S2 | `emit_nvtx` | autograd/test_profiler.py::test_ranges_for_other_profilers
80 | S4 | `ones((3, 4), requires_grad=True)` as printed | documents/test_s4.py::test_cell_shows
81 | S4 | `zeros(3, 4)` as printed | documents/test_s4.py::test_cell_shows
82 | S4 | `grad_fn=<AddBackward0>` in a tensor's print | documents/test_s4.py::test_cell_shows
83 | S4 | the gradients of a sum | documents/test_s4.py::test_cell_shows
84 | S4 | `backward(retain_graph=True)` allows a second call | documents/test_s1.py::test_the_graph_is_freed_unless_retained
85 | S4 | Python's `sum(y)` over a vector | documents/test_s4.py::test_gradients_of_a_product
86 | S4 | a tuple of tensors as printed | documents/test_s4.py::test_gradients_of_a_random_product
87 | S2 S4 | every form of creation: sizes as ints, list or tuple | eras/test_rows.py::test_sizes_as_ints_list_or_tuple
88 | S2 | the operations named, and their nodes' names | documents/test_s2.py::test_names_of_the_operations_in_the_tutorial
89 | S2 | the graph may differ in every iteration | eras/test_rows.py::test_the_graph_is_made_anew_in_every_iteration
90 | S2 | nearly all tensor operations | architecture/test_names.py::test_module_has
91 | S2 | hooks that look at, keep and change gradients in the middle | eras/test_rows.py::test_hooks_look_at_keep_and_change_gradients
92 | S1 S3 | a guaranteed order: of ready nodes the newest first | core/test_engine.py::test_of_ready_nodes_the_one_made_last_runs_next
93 | S2 | forward takes Variables and returns one or a tuple | eras/test_instance_functions.py::test_only_tensors_are_arguments
94 | S2 | as many gradients as inputs; trailing None are accepted | eras/test_instance_functions.py::test_wrong_results_of_backward
95 | S2 | submodules are there without importing them | architecture/test_names.py::test_submodules_are_reachable_without_importing_them
96 | S2 | `.cpu()`, and `.cuda()` with a clear error where there is no GPU | eras/test_types.py::test_types_on_a_gpu_can_be_named
97 | S3 | saved buffers are freed while the pass goes by | eras/test_rows.py::test_buffers_are_freed_while_the_pass_goes_by
98 | S0 S3 | only the handle removes a hook | documents/test_s0.py::test_after_remove_the_hook_is_gone
""")


def render() -> str:
    """docs/eras.md."""
    holds = sum(bool(row.test) for row in ROWS)
    lines = [
        "# One engine for every era",
        "",
        "Code written for any version of torch's autograd runs here, with the semantics of that version. There is no switch for an era.",
        "Names that do not collide all exist. Where two eras differ, a row below says which one holds. A spelling that torch 2.13 has",
        "dropped gives one warning for each place in the source, and the warning names the present spelling. An old and a new spelling of",
        "one argument in the same call raise a TypeError. `python -m wengert run script.py` runs a program that says `import torch`;",
        "`python -m wengert migrate` rewrites it.",
        "",
        "The rows list the names and results in five documents: S0, notes on 0.1.12; S1, a reference page of 1.x; S2, a tutorial of 0.3",
        "run on 1.x; S3, the reference page of 0.2 and 0.3; S4, a notebook of 1.x. `tests/eras/test_rows.py` writes this page from",
        f"`tests/eras/table.py`. {holds} of {len(ROWS)} rows hold.",
        "",
        "| row | documents | what | holds | test |",
        "|---|---|---|---|---|",
    ]
    for row in ROWS:
        path, _, name = row.test.partition("::")
        test = f"[{name}](../tests/{path})" if row.test else ""
        holds_text = "yes" if row.test else f"no: needs {row.needs}"
        lines.append(f"| A{row.number} | {row.documents} | {row.what.replace('|', '/')} | {holds_text} | {test} |")
    return "\n".join(lines) + "\n"
