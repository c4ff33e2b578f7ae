"""Small, randomly initialised networks with the structure of those that people export, each with a
specification of its inputs.

A network is a name, a function that makes it for an implementation of attention (`eager` or `sdpa`), and its
inputs: name, kind, shape. Kinds are those of `make_inputs`; a dimension is a number or a letter (b: batch, s:
length, p: past, t: past and present, d: length of what is decoded).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
import transformers

VOCABULARY = 96
TEXT = {
    "vocab_size": VOCABULARY,
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 64,
}
"""What configurations of most text models call their sizes."""

Input = tuple[str, str, Sequence[int | str]]


@dataclass(frozen=True)
class Network:
    """A network to export. `fields`: of its results, those that the exported model has; none: the first."""

    make: Callable[[str], torch.nn.Module]
    inputs: tuple[Input, ...]
    fields: tuple[str, ...] = ()


IDS: Input = ("ids", "id", ("b", "s"))
MASK: Input = ("mask", "mask", ("b", "s"))
PIXELS: Input = ("x", "f", ("b", 3, 32, 32))


class Called(torch.nn.Module):
    """A network that takes its inputs by position and returns tensors."""

    def __init__(self, network: torch.nn.Module, names: Sequence[str], fields: Sequence[str] = ()) -> None:
        super().__init__()
        self.m, self.names, self.fields = network, names, fields

    def forward(self, *values: torch.Tensor) -> Any:
        found = self.m(**dict(zip(self.names, values, strict=True)))
        if isinstance(found, torch.Tensor):
            return found
        return tuple(found[f] for f in self.fields) if self.fields else found[0]


def from_transformers(
    kind: str, names: Sequence[str], fields: Sequence[str] = (), part: Callable[[Any], Any] = lambda m: m,
    model: str = "AutoModel", **sizes: Any,
) -> Callable[[str], torch.nn.Module]:  # fmt: skip
    """A maker of a model of `transformers`; `part` takes what is exported out of it."""

    def make(attention: str) -> torch.nn.Module:
        def made(**options: Any) -> Any:
            config = transformers.AutoConfig.for_model(kind, **sizes)
            config.use_cache = False
            return getattr(transformers, model).from_config(config, **options)

        try:
            network = made(attn_implementation=attention)
        except ValueError:  # some have one implementation of attention alone
            network = made()
        return Called(part(network), names, fields)

    return make


class Residual(torch.nn.Module):
    """Two convolutions behind norms of groups and SiLU, as in latent diffusion."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.parts = torch.nn.Sequential(
            torch.nn.GroupNorm(4, channels), torch.nn.SiLU(),
            torch.nn.Conv2d(channels, channels, 3, padding=1), torch.nn.GroupNorm(4, channels),
            torch.nn.SiLU(), torch.nn.Conv2d(channels, channels, 3, padding=1),
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.parts(x)


class PixelAttention(torch.nn.Module):
    """One head of attention between the points of an image."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.norm = torch.nn.GroupNorm(4, channels)
        self.q, self.k, self.v, self.out = (torch.nn.Linear(channels, channels) for _ in range(4))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        b, c, h, w = x.shape
        rows = self.norm(x).reshape(b, c, h * w).transpose(1, 2)
        q, k, v = (layer(rows).unsqueeze(1) for layer in (self.q, self.k, self.v))
        found = torch.nn.functional.scaled_dot_product_attention(q, k, v).squeeze(1)
        return x + self.out(found).transpose(1, 2).reshape(b, c, h, w)


def vae_decoder(_: str) -> torch.nn.Module:
    """A decoder of images from latent ones, which doubles their sides once."""
    return torch.nn.Sequential(
        torch.nn.Conv2d(4, 16, 3, padding=1), Residual(16), PixelAttention(16), Residual(16),
        torch.nn.Upsample(scale_factor=2.0), torch.nn.Conv2d(16, 16, 3, padding=1), Residual(16),
        torch.nn.GroupNorm(4, 16), torch.nn.SiLU(), torch.nn.Conv2d(16, 3, 3, padding=1),
    )


def detector(_: str) -> torch.nn.Module:
    """A torch transformer over the points of a small feature map, with learned queries, as DETR has."""

    class Detector(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.stem = torch.nn.Sequential(
                torch.nn.Conv2d(3, 32, 4, stride=4), torch.nn.BatchNorm2d(32), torch.nn.LeakyReLU(0.1),
                torch.nn.Conv2d(32, 32, 2, stride=2), torch.nn.Hardswish(),
            )
            self.transformer = torch.nn.Transformer(32, 4, 2, 2, 64, batch_first=True)
            self.queries = torch.nn.Parameter(torch.randn(1, 6, 32))
            self.boxes = torch.nn.Linear(32, 4)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            points = self.stem(x).flatten(2).transpose(1, 2)
            return self.boxes(self.transformer(points, self.queries.expand(x.shape[0], -1, -1))).sigmoid()

    return Detector()


LLAMA_LIKE = {**TEXT, "num_key_value_heads": 2, "max_position_embeddings": 64}
ENCODER = ("input_ids", "attention_mask")
BOTH = (IDS, MASK)

NETWORKS: dict[str, Network] = {
    "distilbert": Network(
        from_transformers(
            "distilbert", ENCODER, vocab_size=VOCABULARY, dim=32, n_layers=2, n_heads=4, hidden_dim=64,
            max_position_embeddings=64,
        ),
        BOTH,
    ),
    "albert": Network(
        from_transformers("albert", ENCODER, **TEXT, embedding_size=16, max_position_embeddings=64), BOTH
    ),
    "mpnet": Network(from_transformers("mpnet", ENCODER, **TEXT, max_position_embeddings=64), BOTH),
    "deberta": Network(
        from_transformers(
            "deberta-v2", ENCODER, **TEXT, max_position_embeddings=64, relative_attention=True,
            pos_att_type=["p2c", "c2p"], position_buckets=8,
        ),
        BOTH,
    ),
    "t5enc": Network(
        from_transformers(
            "t5", ENCODER, model="AutoModel", part=lambda m: m.encoder, vocab_size=VOCABULARY, d_model=32,
            d_kv=8, d_ff=64, num_layers=2, num_heads=4,
        ),
        BOTH,
    ),
    "t5gated": Network(
        from_transformers(
            "t5", ("input_ids", "attention_mask", "decoder_input_ids"), vocab_size=VOCABULARY, d_model=32,
            d_kv=8, d_ff=64, num_layers=2, num_heads=4, feed_forward_proj="gated-gelu",
        ),
        (*BOTH, ("decoded", "id", ("b", "d"))),
    ),
    "bart": Network(
        from_transformers(
            "bart", ("input_ids", "attention_mask", "decoder_input_ids"), vocab_size=VOCABULARY, d_model=32,
            encoder_layers=2, decoder_layers=2, encoder_attention_heads=4, decoder_attention_heads=4,
            encoder_ffn_dim=64, decoder_ffn_dim=64, max_position_embeddings=64,
        ),
        (*BOTH, ("decoded", "id", ("b", "d"))),
    ),
    "opt": Network(
        from_transformers(
            "opt", ENCODER, model="AutoModelForCausalLM", vocab_size=VOCABULARY, hidden_size=32,
            num_hidden_layers=2, num_attention_heads=4, ffn_dim=64, max_position_embeddings=64,
            word_embed_proj_dim=32,
        ),
        BOTH,
    ),
    "bloom": Network(
        from_transformers(
            "bloom", ENCODER, model="AutoModelForCausalLM", vocab_size=VOCABULARY, hidden_size=32, n_layer=2,
            n_head=4,
        ),
        BOTH,
    ),
    "falcon": Network(
        from_transformers(
            "falcon", ENCODER, model="AutoModelForCausalLM", vocab_size=VOCABULARY, hidden_size=32,
            num_hidden_layers=2, num_attention_heads=4, max_position_embeddings=64,
        ),
        BOTH,
    ),
    "gptneox": Network(
        from_transformers(
            "gpt_neox", ENCODER, model="AutoModelForCausalLM", **TEXT, max_position_embeddings=64
        ),
        BOTH,
    ),
    "mistral": Network(
        from_transformers("mistral", ENCODER, model="AutoModelForCausalLM", **LLAMA_LIKE, sliding_window=6),
        BOTH,
    ),
    "qwen2": Network(from_transformers("qwen2", ENCODER, model="AutoModelForCausalLM", **LLAMA_LIKE), BOTH),
    "phi": Network(
        from_transformers(
            "phi", ENCODER, model="AutoModelForCausalLM", **{**LLAMA_LIKE, "num_key_value_heads": 4}
        ),
        BOTH,
    ),
    "gemma": Network(
        from_transformers("gemma", ENCODER, model="AutoModelForCausalLM", **LLAMA_LIKE, head_dim=8), BOTH
    ),
    "qwen3": Network(
        from_transformers("qwen3", ENCODER, model="AutoModelForCausalLM", **LLAMA_LIKE, head_dim=8), BOTH
    ),
    "gemma3": Network(
        from_transformers(
            "gemma3_text", ENCODER, model="AutoModelForCausalLM", **LLAMA_LIKE, head_dim=8, sliding_window=6,
            layer_types=["sliding_attention", "full_attention"],
        ),
        BOTH,
    ),
    "cohere": Network(
        from_transformers("cohere", ENCODER, model="AutoModelForCausalLM", **LLAMA_LIKE, pad_token_id=0), BOTH
    ),
    "gptneo": Network(
        from_transformers(
            "gpt_neo", ENCODER, model="AutoModelForCausalLM", vocab_size=VOCABULARY, hidden_size=32,
            num_layers=2, num_heads=4, intermediate_size=64, max_position_embeddings=64, window_size=6,
            attention_types=[[["global", "local"], 1]],
        ),
        BOTH,
    ),
    "gptj": Network(
        from_transformers(
            "gptj", ENCODER, model="AutoModelForCausalLM", vocab_size=VOCABULARY, n_embd=32, n_layer=2,
            n_head=4, rotary_dim=4, n_positions=64,
        ),
        BOTH,
    ),
    "mpt": Network(
        from_transformers(
            "mpt", ENCODER, model="AutoModelForCausalLM", vocab_size=VOCABULARY, d_model=32, n_layers=2,
            n_heads=4, max_seq_len=64, expansion_ratio=2,
        ),
        BOTH,
    ),
    "xglm": Network(
        from_transformers(
            "xglm", ENCODER, model="AutoModelForCausalLM", vocab_size=VOCABULARY, d_model=32, num_layers=2,
            attention_heads=4, ffn_dim=64, max_position_embeddings=64,
        ),
        BOTH,
    ),
    "roformer": Network(from_transformers("roformer", ENCODER, **TEXT, max_position_embeddings=64), BOTH),
    "squeezebert": Network(
        from_transformers("squeezebert", ENCODER, **TEXT, embedding_size=32, max_position_embeddings=64), BOTH
    ),
    "esm": Network(
        from_transformers(
            "esm", ENCODER, **TEXT, max_position_embeddings=64, pad_token_id=1, token_dropout=False,
            position_embedding_type="rotary", mask_token_id=2,
        ),
        BOTH,
    ),
    "m2m": Network(
        from_transformers(
            "m2m_100", ("input_ids", "attention_mask", "decoder_input_ids"), vocab_size=VOCABULARY,
            d_model=32, encoder_layers=2, decoder_layers=2, encoder_attention_heads=4,
            decoder_attention_heads=4, encoder_ffn_dim=64, decoder_ffn_dim=64, max_position_embeddings=64,
        ),
        (*BOTH, ("decoded", "id", ("b", "d"))),
    ),
    "bigcode": Network(
        from_transformers(
            "gpt_bigcode", ENCODER, model="AutoModelForCausalLM", vocab_size=VOCABULARY, n_embd=32,
            n_layer=2, n_head=4, n_positions=64, multi_query=True,
        ),
        BOTH,
    ),
    "codegen": Network(
        from_transformers(
            "codegen", ENCODER, model="AutoModelForCausalLM", vocab_size=VOCABULARY, n_embd=32, n_layer=2,
            n_head=4, n_positions=64, rotary_dim=4,
        ),
        BOTH,
    ),
    "hiera": Network(
        from_transformers(
            "hiera", ("pixel_values",), image_size=[32, 32], patch_size=[7, 7], patch_stride=[4, 4],
            patch_padding=[3, 3], embed_dim=8, depths=[1, 1, 2], num_heads=[1, 2, 4], num_query_pool=2,
            masked_unit_size=[4, 4], masked_unit_attention=[True, True, False], query_stride=[2, 2],
        ),
        (PIXELS,),
    ),
    "focalnet": Network(
        from_transformers(
            "focalnet", ("pixel_values",), image_size=32, embed_dim=8, depths=[1, 1, 1, 1],
            focal_levels=[2, 2, 2, 2],
        ),
        (PIXELS,),
    ),
    "timesformer": Network(
        from_transformers(
            "timesformer", ("pixel_values",), hidden_size=32, intermediate_size=64, num_hidden_layers=2,
            num_attention_heads=4, image_size=32, patch_size=8, num_frames=4,
        ),
        (("x", "f", ("b", 4, 3, 32, 32)),),
    ),
    "wavlm": Network(
        from_transformers(
            "wavlm", ("input_values",), hidden_size=32, num_hidden_layers=2, num_attention_heads=4,
            intermediate_size=64, conv_dim=[16, 16], conv_kernel=[8, 4], conv_stride=[4, 2],
            num_feat_extract_layers=2, num_conv_pos_embeddings=8, num_conv_pos_embedding_groups=4,
            num_buckets=16, max_bucket_distance=40,
        ),
        (("x", "f", ("b", 320)),),
    ),
    "conformer": Network(
        from_transformers(
            "wav2vec2-conformer", ("input_values",), hidden_size=32, num_hidden_layers=2,
            num_attention_heads=4, intermediate_size=64, conv_dim=[16, 16], conv_kernel=[8, 4],
            conv_stride=[4, 2], num_feat_extract_layers=2, num_conv_pos_embeddings=8,
            num_conv_pos_embedding_groups=4, position_embeddings_type="rotary",
            conv_depthwise_kernel_size=5,
        ),
        (("x", "f", ("b", 320)),),
    ),
    "swin": Network(
        from_transformers(
            "swin", ("pixel_values",), image_size=32, patch_size=2, embed_dim=16, depths=[2, 2],
            num_heads=[2, 4], window_size=4,
        ),
        (PIXELS,),
    ),
    "clipvision": Network(
        from_transformers(
            "clip_vision_model", ("pixel_values",), hidden_size=32, intermediate_size=64, num_hidden_layers=2,
            num_attention_heads=4, image_size=32, patch_size=8, projection_dim=16,
        ),
        (PIXELS,),
    ),
    "cliptext": Network(
        from_transformers(
            "clip_text_model", ENCODER, **TEXT, max_position_embeddings=64, eos_token_id=2, projection_dim=16
        ),
        BOTH,
    ),
    "convnext": Network(
        from_transformers(
            "convnext", ("pixel_values",), hidden_sizes=[8, 16, 24, 32], depths=[1, 1, 2, 1], image_size=32
        ),
        (PIXELS,),
    ),
    "segformer": Network(
        from_transformers(
            "segformer", ("pixel_values",), depths=[1, 1, 1, 1], hidden_sizes=[8, 16, 24, 32],
            num_attention_heads=[1, 2, 3, 4], sr_ratios=[4, 2, 1, 1],
        ),
        (PIXELS,),
    ),
    "wav2vec2": Network(
        from_transformers(
            "wav2vec2", ("input_values",), hidden_size=32, num_hidden_layers=2, num_attention_heads=4,
            intermediate_size=64, conv_dim=[16, 16], conv_kernel=[8, 4], conv_stride=[4, 2],
            num_feat_extract_layers=2, num_conv_pos_embeddings=8, num_conv_pos_embedding_groups=4,
        ),
        (("x", "f", ("b", 320)),),
    ),
    "sam": Network(
        from_transformers(
            "sam_vision_model", ("pixel_values",), hidden_size=32, num_hidden_layers=2, num_attention_heads=4,
            image_size=32, patch_size=4, window_size=4, global_attn_indexes=[1], output_channels=16,
            mlp_dim=64,
        ),
        (PIXELS,),
    ),
    "dinov2": Network(
        from_transformers(
            "dinov2", ("pixel_values",), hidden_size=32, num_hidden_layers=2, num_attention_heads=4,
            image_size=32, patch_size=8,
        ),
        (PIXELS,),
    ),
    "detector": Network(detector, (PIXELS,)),
    "vaedecoder": Network(vae_decoder, (("x", "f", ("b", 4, 8, 8)),)),
    "efficientnet": Network(
        from_transformers(
            "efficientnet", ("pixel_values",), width_coefficient=0.25, depth_coefficient=0.5, image_size=32
        ),
        (PIXELS,),
    ),
    "regnet": Network(
        from_transformers(
            "regnet", ("pixel_values",), embedding_size=8, hidden_sizes=[8, 16, 24, 32], depths=[1, 1, 2, 1],
            groups_width=8, layer_type="y",
        ),
        (PIXELS,),
    ),
    "levit": Network(
        from_transformers(
            "levit", ("pixel_values",), image_size=64, hidden_sizes=[16, 24, 32],
            num_attention_heads=[2, 3, 4], depths=[1, 1, 1], key_dim=[8, 8, 8], mlp_ratio=[2, 2, 2],
            attention_ratio=[2, 2, 2],
        ),
        (("x", "f", ("b", 3, 64, 64)),),
    ),
    "mobilevit": Network(
        from_transformers(
            "mobilevit", ("pixel_values",), image_size=64, hidden_sizes=[16, 24, 32], num_attention_heads=4,
            neck_hidden_sizes=[8, 8, 16, 16, 24, 24, 32],
        ),
        (("x", "f", ("b", 3, 64, 64)),),
    ),
}
