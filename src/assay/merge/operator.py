"""What a merge operator is, and `OPERATORS`, the table of all of them.

An operator is a frozen dataclass: its fields are what holds for the whole tensor, its ``per_input`` what every input
has of its own. Bring a new one as a file of this folder and one line of the table; the laws then run over it.
"""

from __future__ import annotations

import dataclasses
import enum
import importlib
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple, final

from assay.errors import ConfigError, ShapeError

if TYPE_CHECKING:
    from torch import Tensor

__all__ = [
    "OPERATORS",
    "AbstractMergeOperator",
    "BaseRole",
    "Facts",
    "Fused",
    "Promise",
    "TensorGroup",
]

BaseRole = Literal["required", "optional", "ignored"]


@final
class Promise(enum.Enum):
    """What an operator keeps to at its defaults; the laws test each promise of each operator."""

    IDENTITY = "inputs that all equal one tensor, far from the base, give that tensor"
    PERMUTATION = "reordering rows and columns of every input reorders the result"
    ORDER = "the order of the inputs does not matter"
    ENDPOINTS = "all weight on one input gives that input; t = 0 gives the base"


class Facts(NamedTuple):
    """What whole-model scope has to know before the first tensor: counted over all tensors of the merge.

    ``keep`` entries of this tensor survive the trim of each input, ``factor`` rescales them, ``majority`` is the sign
    (-1, 0 or 1) that most coordinates of the model elected.
    """

    keep: tuple[int, ...]
    factor: tuple[float, ...]
    majority: float


@final
@dataclass(frozen=True, eq=False)
class TensorGroup:
    """The tensor of one name in every model: ``tensors[i]`` is that of ``models[i]``, ``base`` the common ancestor's.

    Operators on two ends (slerp, nearswap, arcee_fusion) take the recipient as ``base``, the donor as the only input.
    ``per_input`` holds one number an input for each name; ``seed``, name and model name every random stream.
    """

    name: str
    models: tuple[str, ...]
    tensors: tuple[Tensor, ...]
    base: Tensor | None = None
    per_input: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    seed: int = 0
    facts: Facts | None = None

    @property
    def ancestor(self) -> Tensor:
        """The base. Raises: ConfigError if there is none."""
        if self.base is None:
            raise ConfigError(
                f"merge: tensor {self.name!r} has no base, and this operator needs one. Name a base_model."
            )
        return self.base


class Fused(NamedTuple):
    """The merged tensor in the type of computation, and what had to be decided on the way ("degenerate: zero_norm")."""

    tensor: Tensor
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class AbstractMergeOperator(ABC):
    """One way to make one tensor of several of equal shape. `assay.merge.tensors.merge_tensor` is how it is called.

    Class variables: ``name`` as recipes spell it; ``source`` the paper or code it follows; ``base`` whether a common
    ancestor is needed; ``fewest`` and ``most`` inputs besides it; ``per_input`` the numbers each input has, with their
    defaults (None: must be given); ``random`` whether it draws; ``promises`` what the laws may ask of it.
    """

    name: ClassVar[str]
    source: ClassVar[str]
    base: ClassVar[BaseRole]
    fewest: ClassVar[int] = 1
    most: ClassVar[int | None] = None
    per_input: ClassVar[Mapping[str, float | None]] = {}
    random: ClassVar[bool] = False
    promises: ClassVar[frozenset[Promise]] = frozenset()

    def __post_init__(self) -> None:
        """Refuse options that are none.

        Raises:
            ConfigError: a word that is none of the choices, or a value of another type, by the name of its option.
        """
        from assay.merge.settings import checked_options

        checked_options(self)

    @abstractmethod
    def fuse(self, group: TensorGroup) -> Fused:
        """The merged tensor of inputs in one floating type, finite and of one shape; inputs are never written to."""

    def check(self, per_input: Mapping[str, tuple[float, ...]]) -> None:  # noqa: B027
        """Refuse numbers that no tensor can be merged with, before any tensor is read.

        Raises:
            ConfigError: naming the number, what came and what is allowed.
        """

    @final
    def described(self) -> dict[str, Any]:
        """Name and every option, for the record of a merge."""
        return {"name": self.name, **dataclasses.asdict(self)}

    @final
    def coefficients(self, n_inputs: int, given: Mapping[str, tuple[float, ...]]) -> dict[str, tuple[float, ...]]:
        """``given`` with the defaults of every input filled in, checked.

        Raises:
            ConfigError: an unknown or missing name, too few or too many inputs, or what `check` refuses.
            ShapeError: not one number an input.
        """
        _counted(self, n_inputs)
        if unknown := sorted(set(given) - set(self.per_input)):
            known = ", ".join(self.per_input) or "none"
            raise ConfigError(f"{self.name}: inputs have no {unknown[0]!r}. What each input has: {known}.")
        result: dict[str, tuple[float, ...]] = {}
        for name, default in self.per_input.items():
            values = given.get(name)
            if values is None and default is None:
                raise ConfigError(f"{self.name}: every input needs a {name!r}, and none was given.")
            result[name] = values if values is not None else (default or 0.0,) * n_inputs
            if len(result[name]) != n_inputs:
                raise ShapeError(f"{self.name}: {len(result[name])} values of {name!r} for {n_inputs} inputs.")
        self.check(result)
        return result


def _counted(operator: AbstractMergeOperator, n_inputs: int) -> None:
    most = operator.most if operator.most is not None else n_inputs
    if operator.fewest <= n_inputs <= most:
        return
    several = f"at least {operator.fewest}" if operator.most is None else f"{operator.fewest}"
    besides = "" if operator.base == "ignored" else " besides the base"
    raise ConfigError(f"{operator.name}: {n_inputs} inputs{besides}; it merges {several}.")


_CLASSES = {
    "arcee_fusion": "arcee_fusion.ArceeFusion",
    "breadcrumbs": "breadcrumbs.Breadcrumbs",
    "breadcrumbs_ties": "breadcrumbs.BreadcrumbsTies",
    "dare_linear": "dare.DareLinear",
    "dare_ties": "dare.DareTies",
    "della": "della.Della",
    "della_linear": "della.DellaLinear",
    "karcher": "karcher.Karcher",
    "linear": "linear.Linear",
    "model_stock": "model_stock.ModelStock",
    "multislerp": "multislerp.Multislerp",
    "nearswap": "nearswap.Nearswap",
    "nuslerp": "nuslerp.Nuslerp",
    "passthrough": "passthrough.Passthrough",
    "ram": "ram.Ram",
    "ramplus_tl": "ram.RamPlus",
    "sce": "sce.Sce",
    "slerp": "slerp.Slerp",
    "task_arithmetic": "task_arithmetic.TaskArithmetic",
    "ties": "ties.Ties",
}


@final
class _Table(Mapping[str, type[AbstractMergeOperator]]):
    """Operators by name; a name is known at once, its class is loaded (with torch) when it is asked for."""

    def __getitem__(self, name: str) -> type[AbstractMergeOperator]:
        module, _, cls = _CLASSES[name].partition(".")
        loaded: type[AbstractMergeOperator] = getattr(importlib.import_module(f"assay.merge.{module}"), cls)
        return loaded

    def __iter__(self) -> Iterator[str]:
        return iter(_CLASSES)

    def __len__(self) -> int:
        return len(_CLASSES)


OPERATORS: Mapping[str, type[AbstractMergeOperator]] = _Table()
"""Every merge operator by the name that recipes use."""
