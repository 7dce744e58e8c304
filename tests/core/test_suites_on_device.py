"""What users rely on holds on a device, too: tests of other folders run again with the stand-in's arrays, where `cuda` is the usual device.

They are programs of all eras of torch, and what users do with graphs, modules, optimizers and distributions. Each list names the tests
that ask for something else than a tensor on a device. A test of a list that holds by now fails."""

from __future__ import annotations

import pytest

import device_library
import device_runs
import wengert

MIXES = "The test computes with tensors of NumPy's arrays, which lie in main memory, beside tensors on the device."
GIVES_ARRAYS = "The test's hooks give or take NumPy arrays, which are no memory of a device."
MAIN_MEMORY = "The test is about main memory: its types, its random numbers, its addresses or its measurement."

AUTOGRAD = {
    MIXES: """
        test_backward.py::test_the_gradient_lies_in_memory_as_the_leaf_does
        test_explain.py::test_explain_names_each_other_way_to_cut_a_graph[<lambda>-detach()]
        test_grad.py::test_hessian_of_a_quadratic_form
        test_gradcheck.py::test_jacobians_have_a_row_an_input_element_and_a_column_an_output_element
        test_gradcheck.py::test_fast_mode_catches_a_transposed_jacobian
    """,
    GIVES_ARRAYS: """
        test_saved_hooks.py::test_gradients_agree_with_a_run_without_hooks
        test_saved_hooks.py::test_each_pass_unpacks_anew
        test_saved_hooks.py::test_derivatives_of_any_order_pass_through_hooks
        test_saved_hooks.py::test_hooks_on_tensors_that_a_function_saves
        test_explain.py::test_explain_names_each_other_way_to_cut_a_graph[<lambda>-numpy()]
        test_explain.py::test_explain_keeps_no_tensor_alive
    """,
    MAIN_MEMORY: """
        test_checkpoint.py::test_random_numbers[False-False]
        test_checkpoint.py::test_random_numbers[False-True]
        test_function.py::test_an_input_returned_as_it_is
        test_function.py::test_a_write_after_saving_is_noticed[input]
        test_function.py::test_a_write_after_saving_is_noticed[output]
        test_profiler.py::test_making_tensors_is_measured
        test_profiler.py::test_bytes_count_results_that_are_not_views
        test_profiler.py::test_bytes_of_a_range_count_the_operations_inside
        test_profiler.py::test_devices_that_are_not_there
        test_profiler.py::test_optional_columns
        test_profiler.py::test_the_trace_is_of_the_trace_event_format
    """,
}
ERAS = {
    MIXES: """
        test_reinforce.py::test_on_average_multinomial
    """,
    MAIN_MEMORY: """
        test_types.py::test_casts
        test_types.py::test_arguments_of_old_are_accepted
        test_types.py::test_types_on_a_gpu_can_be_named
    """,
}
CORE_FILES = [
    f"core/test_{name}.py"
    for name in (
        "views_inplace", "dtypes", "engine", "errors", "layouts", "modes", "nodes", "printing", "promotion", "saved", "serialization",
        "warned_lines",
    )
]  # fmt: skip
CORE = {
    MIXES: """
        test_engine.py::test_broadcasting_is_undone
    """,
    MAIN_MEMORY: """
        test_errors.py::test_error[one of the variables needed fo]
        test_saved.py::test_the_message_for_a_leaf_names_no_operation
        test_saved.py::test_the_message_is_torchs_with_the_lines_added
        test_saved.py::test_the_message_names_a_saved_output_by_its_own_node
        test_serialization.py::test_storages_go_where_map_location_says
        test_serialization.py::test_whole_modules_and_generators_need_trust
        test_views_inplace.py::test_a_view_shares_memory_and_version
        test_views_inplace.py::test_a_write_makes_no_array_on_the_way
        test_views_inplace.py::test_a_read_only_array_is_not_written
    """,
}
if wengert.__config__.info()["core"] != "python":  # the uncompiled core skips them
    CORE[MAIN_MEMORY] += """
        test_engine.py::test_a_chain_needs_one_large_cotangent
        test_views_inplace.py::test_an_unrecorded_sum_of_products_makes_no_array_on_the_way
    """


@pytest.mark.slow
@device_library.on_the_stand_in
@pytest.mark.parametrize(
    ("folders", "reasons", "least"),
    [
        pytest.param(["autograd"], AUTOGRAD, 1450, id="autograd"),
        pytest.param(["nn", "optim", "distributions", "amp/test_grad_scaler.py"], {}, 125, id="modules"),
        pytest.param(CORE_FILES, CORE, 780, id="core"),
        pytest.param(["eras"], ERAS, 270, id="eras"),
    ],
)
def test_claims_hold_on_a_device(folders, reasons, least):
    assert device_runs.check(folders, reasons, "-m", "not slow and not exhaustive") >= least
