"""Annotated shapes and types hold at run time on a pass through toy models, hooks, training and the operator task."""

import subprocess
import sys

PASS = """
import numpy as np, torch
from jaxtyping import install_import_hook
names = [f"assay.models.{name}" for name in ("toy", "targets", "hooks", "writing", "training", "checkpoint")]
names += [f"assay.tasks.{name}" for name in ("operators", "operator_items", "operator_scoring", "splits")]
with install_import_hook(names, "beartype.beartype"):
    from assay.models import hooks, toy, training, writing
    from assay.tasks import operator_items, operator_scoring, operators
from assay.models.sites import HookPoint, Site
from assay.models.tiny import TinyRandom, _model
from assay.seeds import stream
task = operators.operator_task(rng=stream(0, "omega"), trace_stride=2)
names = tuple(operator.name for operator in task.operators)
drawn = operator_items.stratum_items(task, operator_items.Stratum.TARGET_IID, rng=stream(0, "t"), programs=5)
operator_items.corruption_pairs(task, drawn.items, rng=stream(0, "c"))
operator_items.incoming_values(task, drawn.items)
operator_items.random_lines(task, lines=3, tokens=5, rng=stream(0, "l"))
held = tuple(operator_items.item_codes(task, drawn.items).tolist())
batches = operator_items.OperatorBatches(task, names, 0, "donor", size=4, held_out=held)
model = toy.toy(toy.ToyConfig(16, 2, 2), seed=0)
training.train(model, batches, config=training.TrainingConfig(steps=2, warmup=1))
predict = lambda ids, mask: model(torch.as_tensor(ids), torch.as_tensor(mask)).logits.argmax(-1).numpy()
operator_scoring.free_running(task, drawn.items, predict=predict)
operator_scoring.omega_step_correct(task, drawn.items, predict=predict)
operator_scoring.majority_rate(task, drawn.items)
ids = torch.as_tensor(operator_items.random_lines(task, lines=2, tokens=5, rng=stream(0, "l")))
toy.capture_points(model, toy.hook_points(model.config), ids)
for one in (model, _model(TinyRandom("llama", n_layers=2))):
    for position in ("all", -1):
        hooks.capture(one, [Site(HookPoint.HEAD_OUT, 1, position, 0)], ids)
        for site in (Site(HookPoint.HEAD_OUT, 1, position, 0), Site(HookPoint.RESID_MID, 1, position)):
            write = writing.Write(site, lambda rows: rows + 1, alpha=0.5)
            writing.write(one, [write], ids, sites=[Site(HookPoint.RESID_POST, 1)])
tokens = torch.ones(2, 5, dtype=torch.bool)
writing.write(model, [writing.Write(Site(HookPoint.MLP_OUT, 0), torch.zeros(2, 5, 16), tokens=tokens)], ids)
try:
    model(ids[0])
except Exception as error:
    print(type(error).__name__)
"""


def test_annotations_hold() -> None:
    done = subprocess.run([sys.executable, "-c", PASS], capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["TypeCheckError"]
