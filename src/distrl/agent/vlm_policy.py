"""The policy for every Hugging Face model that we support, from our starter model to Qwen-VL.

All sizes share one code path: tests on small models exercise what runs large ones. Observations
become prompts (`prompt`), prompts become tensors (`families`), and a model of one of two
`architectures` turns them into answers, which a dialect reads. The same tokens get the same
log-probabilities when they are sampled and when they are scored. Values are predicted from the
hidden state of the prompt, which is the same whether an answer follows or not.

The model never runs in training mode: dropout would change an answer's score at every call. All
returned tensors are float32, on the policy's device.
"""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from functools import cached_property
from pathlib import Path

import torch
from torch import Tensor, nn
from transformers import PreTrainedModel

from distrl.agent.answer_sampling import SampledAnswer, SamplingSettings, sample_answers
from distrl.agent.architectures.architecture import ForwardResult
from distrl.agent.architectures.chosen_architecture import (
    FeatureSource,
    cacheable_encoder,
    chosen_architecture,
    feature_source,
)
from distrl.agent.architectures.encoder_decoder import EncoderDecoder
from distrl.agent.architectures.packed_decoder import FEATURES
from distrl.agent.checkpointing import checkpointing_layers, enable_checkpointing
from distrl.agent.critic import Critic
from distrl.agent.encoding_cache import EncodingCache, Parts, encoding_key
from distrl.agent.families.model_family import ExpectsPrompts, InputBuilder, ModelInputs
from distrl.agent.feature_cache import FeatureCache
from distrl.agent.lora import AdaptedLayers, LoraSettings
from distrl.agent.prompt import Prompt, Prompter, screens_of
from distrl.agent.screen_projector import ScreenProjector
from distrl.agent.shared_prefix import SharedPrefix
from distrl.agent.token_scores import token_distribution, token_scores
from distrl.agent.trainable_policy import Scores
from distrl.agent.weight_digest import weight_digest
from distrl.errors import UsageError
from distrl.records import Decision, Observation

Share = Callable[[Sequence[Prompt], Parts], None]
ENCODED_AT_ONCE = 128  # prompts per chunk, on a GPU
POLICY, PROJECTOR, CRITIC = "policy.", "projector.", "critic."  # prefixes of weight names


class VlmPolicy:
    """Implements `TrainablePolicy`. Build one with `policy_builder.vlm_policy`.

    `sampling` may be replaced between two decisions, for a greedy evaluation say.
    """

    def __init__(
        self,
        network: PreTrainedModel,  # on its device, adapters attached, never in training mode
        critic: Critic,
        builder: InputBuilder,
        prompter: Prompter,
        sampling: SamplingSettings,
        *,
        directory: Path,  # the directory that the model was opened from
        lora: LoraSettings | None = None,  # the adapters attached to `network`
        projector: ScreenProjector | None = None,  # for a language model with image input
        cache_bytes: int = 0,  # size of the caches of encodings and of features
        may_checkpoint: bool = False,  # whether `start_checkpointing` is allowed
        seed: int = 0,
    ) -> None:
        self.network = network
        self.critic = critic
        self.builder = builder
        self.prompter = prompter
        self.sampling = sampling
        self.directory = directory
        self.lora = lora
        self.device = network.device
        self.projector = projector
        stand_in = builder.answers.pad_token_id
        self.architecture = chosen_architecture(network, stand_in, projector)
        self.prefix = SharedPrefix(builder)
        self.encodings = EncodingCache(cache_bytes)
        self.share: Share | None = None  # called with the encodings of each decided batch
        self._cached = cacheable_encoder(self.architecture) if cache_bytes else None
        self._feature_source = feature_source(self.architecture, builder)
        self.features = FeatureCache(cache_bytes)
        self._adapters = AdaptedLayers(network) if lora is not None else None
        self.forward_tokens = 0  # tokens computed so far without a gradient
        self.training_tokens = 0  # tokens computed so far with a gradient
        self._learned = _learned({POLICY: network, PROJECTOR: projector, CRITIC: critic})
        self._ends = torch.tensor(sorted(builder.answers.end_token_ids), device=self.device)
        self._may_checkpoint = may_checkpoint and network.supports_gradient_checkpointing
        self._checkpointing_layers = checkpointing_layers(network)
        self.weight_version = 0  # that decisions carry
        self._rng = torch.Generator(self.device)
        self.seed(seed)

    @property
    def reads_elements(self) -> bool:
        """Whether it uses the elements of observations; see `policy.reads_elements`."""
        return self.prompter.reads_elements

    @property
    def notice(self) -> str:
        """See `policy.notice`."""
        return self.prefix.notice

    @property
    def shares_encodings(self) -> bool:
        """Whether encodings of other processes are useful; on a GPU encoding is faster than IPC."""
        return self._cached is not None and self.device.type == "cpu"

    # Deciding -----------------------------------------------------------------------------------

    def seed(self, seed: int | str) -> None:
        """Seed the generator of answer sampling."""
        digest = hashlib.blake2b(f"vlm_policy/decide/{seed}".encode(), digest_size=8).digest()
        self._rng.manual_seed(int.from_bytes(digest, "little") >> 1)

    def expect(self, observation: Observation) -> None:
        """Prefetch inputs (`policy.expect`) on a GPU; without one, threads would gain nothing."""
        if self.device.type == "cuda" and isinstance(self.builder, ExpectsPrompts):
            self.builder.expect(self.prompter.write(observation))

    @torch.inference_mode()
    def decide(self, observations: Sequence[Observation]) -> list[Decision]:
        if not observations:
            return []
        with nullcontext() if self._adapters is None else self._adapters.merged():
            answers = self._sampled([self.prompter.write(each) for each in observations])
        self.forward_tokens += sum(len(answer.token_ids) for answer in answers)
        return [self._decision(*each) for each in zip(answers, observations, strict=True)]

    def _sampled(self, prompts: Sequence[Prompt]) -> list[SampledAnswer]:
        longest = self.sampling.max_new_tokens
        if self._cached is not None:
            encoded = self._encoded(self._cached, prompts)
            if self.share is not None:
                self.share(prompts, encoded)
            decoding = self._cached.begin_encoded(encoded, longest)
        else:
            inputs, system = self._inputs(prompts).tensors, prompts[0].system
            decoding = self.prefix.begin(self.architecture, inputs, longest, system)
            self._count(-self.prefix.reused)
        return sample_answers(decoding, self._ends, self.sampling, self._rng)

    def _decision(self, answer: SampledAnswer, observation: Observation) -> Decision:
        text = self.builder.answers.decode(answer.token_ids)
        action = self.prompter.read(text, observation)
        return Decision(action, text, answer.token_ids, answer.log_probs, self.weight_version)

    # Training -----------------------------------------------------------------------------------

    def score(
        self, observations: Sequence[Observation], answers: Sequence[Sequence[int]]
    ) -> Scores:
        return self.score_prompts([self.prompter.write(each) for each in observations], answers)

    def score_prompts(self, prompts: Sequence[Prompt], answers: Sequence[Sequence[int]]) -> Scores:
        """As `score`, for prompts that are already written."""
        tokens, mask = self._padded(prompts, answers)
        self._count(int(mask.sum()))
        with self._checkpointing():
            result = self._forward(prompts, tokens)
        places = tuple(place.to(self.device) for place in mask.nonzero(as_tuple=True))
        log_probs, entropies = token_scores(
            result.states[places],
            result.project,
            tokens.to(self.device)[places],
            self.sampling.temperature,
            self.architecture.vocabulary_size,
        )
        nothing = log_probs.new_zeros(mask.shape)
        return Scores(
            log_probs=nothing.index_put(places, log_probs),
            entropies=nothing.index_put(places, entropies),
            token_mask=mask.to(self.device),
            value_logits=self.critic.values(result.prompt_states, self._words(prompts)),
        )

    @torch.no_grad()
    def alternatives(
        self, observation: Observation, answer: Sequence[int], count: int
    ) -> list[tuple[float, list[tuple[int, float]]]]:
        """Return, for each token of an answer, its log p and the `count` likeliest (id, log p)."""
        prompts = [self.prompter.write(observation)]
        tokens, _ = self._padded(prompts, [answer])
        result = self._forward(prompts, tokens)
        logits = result.project(result.states[0])  # [k, vocabulary]
        distribution = token_distribution(logits, self.sampling.temperature)
        own = distribution.gather(-1, tokens[0].to(self.device).unsqueeze(-1)).squeeze(-1)
        found = distribution.topk(count)
        rows = zip(own.tolist(), found.indices.tolist(), found.values.tolist(), strict=True)
        return [(each, list(zip(ids, logs, strict=True))) for each, ids, logs in rows]

    def value_logits(self, observations: Sequence[Observation]) -> Tensor:  # [n, heads]
        prompts = [self.prompter.write(each) for each in observations]
        return self.critic.values(self._prompt_states(prompts), self._words(prompts))

    def instruction_logits(self, instructions: Sequence[str]) -> Tensor:  # [n]
        prompts = [Prompt("", each, (), instruction=each) for each in instructions]
        return self.critic.instruction_values(self._prompt_states(prompts), self._words(prompts))

    @torch.no_grad()
    def prepare(self, observations: Sequence[Observation]) -> None:
        """Fill the caches for these observations (encodings or image features). Thread-safe."""
        architecture, source = self._cached, self._feature_source
        if architecture is None and (source is None or not self.features.max_bytes):
            return
        prompts = [self.prompter.write(each) for each in observations]
        if architecture is not None:
            self.encodings.add_missing(
                [encoding_key(prompt) for prompt in prompts],
                lambda new: self._encoded(architecture, [prompts[at] for at in new]),
            )
        elif source is not None:
            self.features.add_missing(screens_of(prompts), source.features)

    def policy_parameters(self) -> Iterable[nn.Parameter]:
        learned = self._learned.items()
        return [p for name, p in learned if not name.startswith(CRITIC) and p.requires_grad]

    def critic_parameters(self) -> Iterable[nn.Parameter]:
        return list(self.critic.parameters())

    def _words(self, prompts: Sequence[Prompt]) -> Tensor | None:  # [n, slots]
        return self.critic.bags_of_words([prompt.instruction for prompt in prompts])

    def _prompt_states(self, prompts: Sequence[Prompt]) -> Tensor:  # [n, hidden]
        """Return hidden states of prompts; with a gradient only if the critic trains the trunk."""
        wanted = torch.is_grad_enabled() and self.critic.settings.trains_trunk
        with torch.set_grad_enabled(wanted), self._checkpointing():
            nothing = torch.zeros((len(prompts), 0), dtype=torch.long)
            return self._forward(prompts, nothing).prompt_states

    def _forward(self, prompts: Sequence[Prompt], answers: Tensor) -> ForwardResult:
        """Compute `Architecture.forward`, with cached encodings if the encoder is frozen."""
        architecture = self._cached
        if architecture is None:
            return self.architecture.forward(self._inputs(prompts).tensors, answers)
        encoded = self.encodings.rows(
            [encoding_key(prompt) for prompt in prompts],
            lambda new: self._encoded(architecture, [prompts[at] for at in new]),
        )
        return architecture.forward_encoded(encoded, answers)

    def _encoded(self, architecture: EncoderDecoder, prompts: Sequence[Prompt]) -> Parts:
        """Encode prompts; on a GPU in chunks, so that the CPU prepares the next one meanwhile."""
        size = len(prompts) if self.device.type == "cpu" else ENCODED_AT_ONCE
        chunks = [
            architecture.encode(self._inputs(prompts[first : first + size]).tensors)
            for first in range(0, len(prompts), size)
        ]
        return tuple(torch.cat(parts) for parts in zip(*chunks, strict=True))

    @contextmanager
    def uncached(self) -> Iterator[None]:
        """Disable the caches of encodings and of features within the context."""
        cached, features = self._cached, self.features
        self._cached, self.features = None, FeatureCache(0)
        try:
            yield
        finally:
            self._cached, self.features = cached, features

    def start_checkpointing(self) -> bool:
        """Enable gradient checkpointing (`SupportsCheckpointing`)."""
        if self._checkpointing_layers or not self._may_checkpoint:
            return False
        enable_checkpointing(self.network)
        self._checkpointing_layers = checkpointing_layers(self.network)
        return True

    @contextmanager
    def _checkpointing(self) -> Iterator[None]:
        """Set the layers' `training` flag, which makes them checkpoint and has no other effect."""
        for layer in self._checkpointing_layers:
            layer.training = torch.is_grad_enabled()
        try:
            yield
        finally:
            for layer in self._checkpointing_layers:
                layer.training = False

    def _padded(
        self, prompts: Sequence[Prompt], answers: Sequence[Sequence[int]]
    ) -> tuple[Tensor, Tensor]:  # [n, k], [n, k]
        if len(prompts) != len(answers) or not answers:
            raise UsageError(
                f"{len(answers)} answers to {len(prompts)} observations; give one for each, "
                "and at least one"
            )
        highest = max(itertools.chain.from_iterable(answers), default=0)
        vocabulary = self.architecture.vocabulary_size
        if highest >= vocabulary:
            raise UsageError(
                f"an answer has token {highest}, this model's last is {vocabulary - 1}; was it "
                "given by a model with another tokenizer?"
            )
        width = max(len(answer) for answer in answers)
        pad = self.builder.answers.pad_token_id
        rows = [[*answer, *[pad] * (width - len(answer))] for answer in answers]
        lengths = torch.tensor([len(answer) for answer in answers])
        tokens = torch.tensor(rows, dtype=torch.long).reshape(len(rows), width)
        return tokens, torch.arange(width) < lengths.unsqueeze(1)

    # Cost ---------------------------------------------------------------------------------------

    @cached_property
    def parameter_count(self) -> int:
        return sum(parameter.numel() for parameter in self.network.parameters())

    @cached_property
    def trainable_count(self) -> int:
        return sum(parameter.numel() for parameter in self.policy_parameters())

    @property
    def flops(self) -> float:
        """An estimate of the FLOPs so far, without attention and the image encoder.

        Forward takes 2·P for a token; backward 2·P more through the layers and 2·T for the
        gradients of T trainable parameters. That is 6·P with a gradient if everything is trained,
        and 8·P if checkpointing layers recompute their forward pass.
        """
        forward = 2.0 * self.parameter_count * (self.forward_tokens + self.training_tokens)
        backward = 2.0 * (self.parameter_count + self.trainable_count) * self.training_tokens
        again = 2.0 * self.parameter_count * self.training_tokens
        return forward + backward + (again if self._checkpointing_layers else 0.0)

    def _inputs(self, prompts: Sequence[Prompt]) -> ModelInputs:
        source = self._feature_source
        inputs = self.builder.build(prompts) if source is None else self._placed(source, prompts)
        self._count(int(inputs.tensors["attention_mask"].sum()))
        return inputs

    def _placed(self, source: FeatureSource, prompts: Sequence[Prompt]) -> ModelInputs:
        """Build inputs with features in place of pixels; cached screens are not unpacked."""
        features = self.features.of(screens_of(prompts), source.features)
        inputs = source.builder.build_without_pixels(prompts)  # overlaps with the GPU's work
        if features is not None:
            inputs.tensors[FEATURES] = features
        return inputs

    def _count(self, tokens: int) -> None:
        if torch.is_grad_enabled():
            self.training_tokens += tokens
        else:
            self.forward_tokens += tokens

    # Weights ------------------------------------------------------------------------------------

    def weights(self) -> dict[str, Tensor]:
        """Return a copy on the CPU of all trained weights: adapters or model, projector, critic."""
        return {
            name: parameter.detach().to("cpu", copy=True)
            for name, parameter in self._learned.items()
        }

    def weight_digest(self) -> str:
        """Return the digest of the current trained weights, computed on their device."""
        return weight_digest(self._learned)

    def load_weights(self, weights: Mapping[str, Tensor], version: int) -> None:
        """Load the weights of another policy of the same sizes; decisions carry `version`."""
        if set(weights) != set(self._learned):
            strange = sorted(set(weights) ^ set(self._learned))
            raise UsageError(
                f"{len(weights)} weights given, {len(self._learned)} wanted; {strange[:3]} are on "
                "one side only: was it another model, or another choice of adapters?"
            )
        for name, parameter in self._learned.items():
            if parameter.shape != weights[name].shape:
                raise UsageError(
                    f"weights {name}: {tuple(weights[name].shape)} given, "
                    f"{tuple(parameter.shape)} wanted; was it another size or rank?"
                )
        with torch.no_grad():
            for name, parameter in self._learned.items():
                parameter.copy_(weights[name])
        self.weight_version = version


def _learned(modules: Mapping[str, nn.Module | None]) -> dict[str, nn.Parameter]:
    return {
        f"{prefix}{name}": each
        for prefix, module in modules.items()
        for name, each in (module.named_parameters() if module is not None else ())
        if each.requires_grad
    }
