"""Qwen-VL without padding: the tokens of all prompts are packed end to end, as are their pictures.

Inputs and results are the same as those of `DecoderOnly`, which pads and is the reference in tests.
It saves padding; a loop over windows in the vision tower; the vision tower itself for pictures
whose features are cached (`features`, `"image_features"` among the inputs); and rounding, copies
and memory traffic in norms. Decoding is in `slab_decoding`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from transformers import PreTrainedModel

from distrl.agent.architectures.architecture import ForwardResult, PrefixStates, Tensors
from distrl.agent.architectures.decoder_only import DecoderOnly
from distrl.agent.architectures.packed_attention import use_packed_attention
from distrl.agent.architectures.slab_decoding import KeyValueSlab, SlabDecoding, TokenGraphs

PICTURES = ("pixel_values", "image_grid_thw")
FEATURES = "image_features"  # in place of pixels: [image tokens of the batch, features]


@dataclass(frozen=True, slots=True)
class PackedTokens:
    """Packed sequences, end to end, on the model's device."""

    ids: Tensor  # [tokens]
    positions: Tensor  # [3, tokens]
    begins: Tensor  # [sequences + 1]
    longest: int
    after: Tensor  # [sequences]: the position of what follows each
    pictures: Tensor  # [image tokens]: their places among the tokens


def can_be_packed(network: PreTrainedModel) -> bool:
    """Return whether this is a Qwen-VL whose layers all have full causal attention."""
    trunk: Any = getattr(network, "model", None)
    if not (hasattr(trunk, "get_rope_index") and hasattr(trunk, "language_model")):
        return False
    kinds = getattr(trunk.language_model.config, "layer_types", None) or ("full_attention",)
    return set(kinds) == {"full_attention"}


class PackedDecoder(DecoderOnly):
    """A decoder-only model that computes a batch of prompts as one packed row."""

    def __init__(self, network: PreTrainedModel, stand_in: int) -> None:
        super().__init__(network, stand_in)
        self._language: Any = self.trunk.language_model
        self._image_token: int = network.config.image_token_id
        self._graphs = TokenGraphs(self.decode_token, self._language.config)
        use_packed_attention(self._language.config, self.trunk.visual.config)
        _fuse_norms(network)

    @property
    def features_stay(self) -> bool:
        """Whether image features may be cached: the vision tower is frozen."""
        return not any(each.requires_grad for each in self.trunk.visual.parameters())

    def features(self, pictures: Tensors) -> list[Tensor]:  # each [image tokens, features]
        """Compute the vision tower's features; those for DeepStack (Qwen3-VL) are concatenated."""
        moved = self.moved(pictures)
        found = self.trunk.get_image_features(
            moved["pixel_values"], moved["image_grid_thw"], return_dict=True
        )
        lengths = [len(each) for each in found.pooler_output]
        deeper = getattr(found, "deepstack_features", None) or ()
        levels = [found.pooler_output, *(_by_picture(each, lengths) for each in deeper)]
        return [torch.cat(of_one, dim=-1) for of_one in zip(*levels, strict=True)]

    def begin(
        self, inputs: Tensors, max_new_tokens: int, prefix: PrefixStates | None = None
    ) -> SlabDecoding:
        packed = self._packed(inputs, known=0 if prefix is None else len(prefix))
        decoding = self._graphs.begin(
            packed.begins.diff(), packed.longest, packed.after, max_new_tokens, self._like, prefix
        )
        states = self._states(packed, inputs, decoding.slab)
        decoding.read(self.project(states[packed.begins[1:] - 1]))
        return decoding

    def read_prefix(self, tokens: Tensor) -> PrefixStates:
        inputs = {
            "input_ids": tokens.unsqueeze(0),
            "attention_mask": torch.ones((1, len(tokens)), dtype=torch.long),
        }
        packed = self._packed(inputs)
        slab = KeyValueSlab(self._language.config, 1, len(tokens), self._like)
        slab.expect(packed.begins.diff())
        self._states(packed, inputs, slab)
        return PrefixStates(slab.keys[:, 0], slab.values[:, 0])

    @property
    def _like(self) -> Tensor:
        """A tensor with the dtype and device that keys and values are cached in."""
        weight: Tensor = self._language.get_input_embeddings().weight
        return weight

    def forward(self, inputs: Tensors, answers: Tensor) -> ForwardResult:
        width = answers.shape[1]
        packed = self._packed(inputs, answers[:, : max(width - 1, 0)])
        states = self._states(packed, inputs)
        last = packed.begins[1:] - max(width, 1)  # the index of each prompt's last token
        answered = last.unsqueeze(1) + torch.arange(width, device=last.device)
        return ForwardResult(states[last], states[answered], self.project)

    def decode_token(self, tokens: Tensor, positions: Tensor, slab: KeyValueSlab) -> Tensor:
        """Return the logits after one more token for each row of the slab, [n, vocabulary]."""
        embedded = self._language.get_input_embeddings()(self.heard(tokens).unsqueeze(1))
        states: Tensor = self._language(
            inputs_embeds=embedded,
            position_ids=positions.view(1, -1, 1).expand(3, -1, 1),
            attention_mask=slab.in_use[:, None, None, :],
            past_key_values=slab,
            use_cache=False,
        ).last_hidden_state
        return self.project(states[:, -1])

    def _packed(self, inputs: Tensors, heard: Tensor | None = None, known: int = 0) -> PackedTokens:
        """Pack prompts, without their first `known` tokens, and the tokens that follow them."""
        heard = inputs["input_ids"][:, :0] if heard is None else heard
        positions, after = self.positions(inputs)
        further = after.unsqueeze(1) + torch.arange(heard.shape[1])
        positions = positions.expand(3, *positions.shape[-2:])
        positions = torch.cat([positions, further.expand(3, -1, -1)], dim=-1)
        ids = torch.cat([inputs["input_ids"], self.heard(heard)], dim=1)
        real = torch.nn.functional.pad(inputs["attention_mask"], (0, heard.shape[1]), value=1) == 1
        real &= real.cumsum(dim=1) > known
        lengths = real.sum(dim=1)
        begins = torch.nn.functional.pad(lengths.cumsum(0), (1, 0))
        return PackedTokens(
            ids=ids[real].to(self.device),
            positions=positions[:, real].to(self.device),
            begins=begins.to(self.device),
            longest=int(lengths.max()),
            after=after.to(self.device),
            pictures=(ids[real] == self._image_token).nonzero().squeeze(1).to(self.device),
        )

    def _states(
        self, packed: PackedTokens, inputs: Tensors, slab: KeyValueSlab | None = None
    ) -> Tensor:  # [tokens, hidden]
        known = 0 if slab is None or slab.prefix is None else len(slab.prefix)
        embedded = self._language.get_input_embeddings()(packed.ids)
        deeper: Mapping[str, Any] = {}
        if len(packed.pictures):
            features = self._features_of(inputs).to(embedded.dtype)
            first, *levels = torch.split(features, self.hidden_size, dim=-1)
            embedded = embedded.index_put((packed.pictures,), first)
            if levels:
                seen = torch.zeros_like(packed.ids, dtype=torch.bool)
                seen[packed.pictures] = True
                deeper = {
                    "visual_pos_masks": seen.unsqueeze(0),
                    "deepstack_visual_embeds": levels,
                }
        states: Tensor = self._language(
            inputs_embeds=embedded.unsqueeze(0),
            position_ids=packed.positions.unsqueeze(1),
            attention_mask=None,
            past_key_values=slab,
            use_cache=False,
            cu_seq_lens_q=packed.begins,
            cu_seq_lens_k=packed.begins
            + known * torch.arange(len(packed.begins), device=self.device),
            max_length_q=packed.longest,
            max_length_k=packed.longest + known,
            **deeper,
        ).last_hidden_state
        return states[0]

    def _features_of(self, inputs: Tensors) -> Tensor:
        if FEATURES in inputs:
            return inputs[FEATURES]
        return torch.cat(self.features({name: inputs[name] for name in PICTURES}))


def _by_picture(level: Any, lengths: list[int]) -> Any:
    """Split features by picture: transformers before 5.20 gives those of all in one tensor."""
    return torch.split(level, lengths) if isinstance(level, Tensor) else level


def _fuse_norms(network: nn.Module) -> None:
    """Replace transformers' RMS norms (six kernels) by torch's, one kernel that rounds once."""
    for parent in network.modules():
        for name, norm in parent.named_children():
            if type(norm).__name__.endswith("RMSNorm") and hasattr(norm, "variance_epsilon"):
                weight: Any = norm.weight
                fused = nn.RMSNorm(weight.shape, norm.variance_epsilon, device="meta")  # type: ignore[arg-type]
                fused.weight = weight
                setattr(parent, name, fused.train(norm.training))
