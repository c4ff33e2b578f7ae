"""Wrong rules whose mistake shows where few look: at an attribute's other values, in a rare branch, for large
whole numbers, at ties, near or beyond a number of either side.

None is accepted: it is refuted or unknown, or tested with what was not varied named.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

import gslang.api as api
from gslang.check.checked import CheckedRule
from gslang.verify.prove.prove import prove
from gslang.verify.prove.terms.paths import NotProved
from gslang.verify.verdict import Settings, verify_now

FOLDER = Path(__file__).parent / "unseen"
NAMES = [
    tuple(line.split("\t")) for line in (FOLDER / "INDEX.tsv").read_text(encoding="utf-8").splitlines()[1:]
]
RIGHT = {"pad_mode_relu"}  # absent is absent in a graph, too: what is added is 0, or a copy
SOME = [
    "conv_group3", "upsample_twice", "sum_unsorted", "batch_three", "stack_end", "log_product",
    "max_of_next", "cast_through_double", "round_cast", "cast_int8_back", "dropout_any", "rank_seven",
    "op_of_input", "isinf_swap", "userop_optional", "slice_step", "slice_back", "three_parts_of_four",
    "resize_mode_dropped", "one_row_for_all", "slice_axes_all", "sq_unsorted", "resize_quarter",
    "loop_hundred", "less_at_1000", "mm_i32", "log_softmax_clip", "ln_eps12", "reciprocal_floor",
    "max_pad100", "g_sm_two", "m_softmax6", "k_max_slice10", "r_ones_relu", "a_count_min", "l_sum_u32",
    "s2d_twice_nhwc", "onehot_clip", "perm_in_order", "split4k", "conv_nhwc_g", "cat_relu",
    "e_q_relu_dtype", "f_i8_add", "f_tanh_clip", "w_le_lt", "w_mul_div", "m_off33", "m_count",
    "q_rev_sum", "g_mean_each", "g_split_parts", "h_each_min2", "e_max_i64", "pool_dims", "conv_one",
    "tr_sum", "perm_same", "gather_abs", "loop_inv", "loop_scan_len", "cast_half_bool",
    "cast_f64_f32_less", "onehot_mm", "val_not_in", "split_half", "codes_left", "tr_rest", "pw_rest",
    "z_slice_third", "z_range_mod", "z_trilu_low", "z_slice_constant", "z_two_numbers",
    "z_bytes_in_floats", "z_shuffle", "z_join_permuted", "z_zero_stated", "z_sum_bytes", "z_first_slopes",
    "z_equal_neighbours", "z_sum_permuted", "z_low_bits", "z_reflected", "z_five_axes", "z_growing",
    "z_smaller_end", "z_product_of_three", "norm_of_rows", "rms_of_rows",
    "conv_by_short_row", "max_of_rows", "vector_add", "copied", "every_second", "first_row",
    "chosen_number", "chosen_of_one", "inserted_last", "softmax_of_parts", "split_again", "merged_again",
    "copied_again", "value_single_wrong", "mask_shift_wrong", "leaky_floor_wrong", "pool_pad_cap_wrong",
    "axis_mod5_wrong", "m_range_wrong", "m_dyn_wrong", "resize_sum_wrong", "pool_relu_wrong", "dropout_wrong",
    "upsample_linear_wrong", "deconv_wide_wrong", "alternate_sign_wrong", "mul_prod_one_wrong",
    "int_detour_wrong", "cut_dense_wrong", "ends_perm_wrong", "inverse_wrong",
    "conv_dil_cap_wrong", "slice_begin_cap_wrong", "cut_conv_channels_wrong", "cut_broadcast_wrong",
    "conv_strided_slice_wrong", "pieces_wrong", "narrow_list_wrong", "abs_type_wrong",
    "sixth_wrong", "root_half_wrong", "resize_region_wrong", "resize_neg_wrong",
    "skip_swapped_wrong", "gather_nd_batch_wrong", "scatter_nd_wrong", "turned_product_wrong",
    "reduce_unsqueeze_empty_wrong", "sh_argmax_wrong", "ax_argmin_wrong", "resize_floor_wrong",
    "resize_linear_wrong", "transpose_same_shape_wrong", "tr_all_wrong", "ax_reduce_wrong",
    "cast_d_f_d_wrong", "scale6_wrong", "scale64_wrong", "take8a_wrong",
    "oh_u8_wrong",
    "c1_wrong", "c2_wrong", "c3_wrong", "c4_wrong", "c5_wrong",
    "c8_wrong", "a1_wrong", "c7_wrong", "a5_wrong", "d1_wrong",
    "d3_wrong", "d4_wrong", "d5_wrong", "mean_of_means_wrong", "split_in_equal_wrong",
    "second_part_wrong", "halves_wrong", "mean_of_joined_wrong", "take_abs_wrong", "take_max_wrong",
    "take_u32_wrong", "take_min_wrong", "gather_abs_wrong", "gather_nd_abs_wrong", "scatter_abs_wrong",
    "hot_abs_wrong", "hot_u8_wrong", "dyn_end_wrong", "dyn_full_wrong", "range_min_wrong",
    "range_cast_wrong", "slice_min_wrong", "trilu_min_wrong", "topk_min_wrong", "expand_min_wrong",
    "expand_cast_wrong", "reverse_min_wrong", "shape_min_wrong", "gather_mod_wrong", "hot_max_wrong",
    "hot_u8_onnx_wrong", "sums_u1_wrong", "sums_u4_wrong", "sums_v2_wrong", "types_c7_wrong",
    "eq_cast_wrong", "eq_cast_where_wrong", "eq_mul4_wrong", "eq_shift_wrong", "eq_and16_wrong",
    "xor_cast_wrong", "cast_sub_wrong", "trunc_zero_wrong", "u64_u32_wrong", "u32_u16_add_wrong",
    "u32_mul_wrong", "u64_shl_wrong", "u32_where_wrong", "double_range_wrong", "eq_cast16_wrong",
    "eq_cast16b_wrong", "cast_const_wrong", "cast_uint_wrong", "xor_bool_wrong", "mul_even_wrong",
    "shl_wrong", "shl32_wrong", "sum_eq_wrong", "all_equal_wrong", "zero_u16_wrong", "shr_zero_wrong",
    "ne_any_wrong", "mul_odd_wrong", "eq_cast_wrong", "gather_join_wrong", "cat_cast_wrong",
    "where_cast_wrong", "cat_isnan_wrong", "cat_argmax_wrong", "ln_bias_wrong", "gemm_bias_wrong",
    "if_calls_wrong", "if_calls2_wrong", "if_idem_wrong[Relu]", "if_idem_wrong[Abs]", "if_idem_wrong[Ceil]",
    "if_bounded_wrong", "if_relu_after_wrong", "scan_calls_wrong", "if_neg_wrong",
    "if_axis_wrong", "gemm_halves_wrong", "gemm_doubled_wrong",
    "mod_before_slice_wrong", "div_before_where_wrong", "div_of_all_wrong", "limit_mmi_small_wrong",
    "limit_reduce_s_wrong", "scaled_o1_b4_wrong", "scaled_o2_b19_wrong", "half_h3_m3_wrong",
    "half_f1_f32_wrong", "scores_u1_g3_wrong", "empty_s19b_wrong", "tie_round_wrong", "shift_mul",
    "limit_reduce_s_wrong",
    "clip_dropped_wrong", "clip_of_clip_wrong", "clip_if_absent_wrong", "squeeze_all_wrong",
    "max_of_first_wrong", "split_equally_wrong", "pad_with_0_wrong", "top_one_wrong", "parts_joined_wrong",
    "pad_any_copied_wrong", "pad_conv_wrong", "pad_of_pad_wrong",
    "box_least_dropped_wrong", "dft_inverse_dropped_wrong", "cache_mode_dropped_wrong", "erase_kept_wrong",
]
# wrong for a larger rank than a proof looks at, as its claim says
MANY = {
    "m_sum6", "m_softmax6", "perm_same", "perm_zip", "swaps_wrong", "perm_mid_wrong", "inverse_wrong",
    "transpose_involution_wrong", "squeeze_axes_wrong",
}


@cache
def rules(file: str) -> dict[str, CheckedRule]:
    return api.load(FOLDER / file).own


def is_accepted(rule: CheckedRule) -> bool:
    verdict = verify_now(rule, Settings(seconds=60))
    return (
        verdict.verdict in ("proved", "exact")
        or verdict.verdict == "tested" and "not varied" not in verdict.reason
    )


@pytest.mark.parametrize("file, name", NAMES)
def test_it_is_not_proved(file: str, name: str) -> None:
    if name in MANY:
        claim = prove(rules(file)[name], 6_000).claim
        assert "for ranks up to " in claim
        return
    with pytest.raises(NotProved):
        prove(rules(file)[name], 6_000)


@pytest.mark.parametrize("file, name", [item for item in NAMES if item[1] in SOME])
def test_it_is_not_accepted(file: str, name: str) -> None:
    assert not is_accepted(rules(file)[name])


@pytest.mark.parametrize("name", ["rank_seven", "batch_three"])
def test_a_rare_branch_is_not_about_integers(name: str) -> None:
    assert verify_now(rules("q_relay_blind.gsl")[name], Settings(seconds=60)).verdict == "refuted"


@pytest.mark.long
@pytest.mark.parametrize("file, name", NAMES)
def test_none_is_accepted(file: str, name: str) -> None:
    assert not is_accepted(rules(file)[name])


def test_all_others_are_right() -> None:
    assert {name for file in FOLDER.glob("*.gsl") for name in rules(file.name)} == {
        name for _, name in NAMES
    } | RIGHT
