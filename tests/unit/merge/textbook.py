"""Merge operators written out as their formulas say: coordinate by coordinate, in plain Python, without shortcuts."""

import math
import statistics

import torch

from assay.seeds import torch_stream


def sign(value):
    return (value > 0) - (value < 0)


def in_order(values):
    """Places by falling magnitude, equal ones in their order."""
    return sorted(range(len(values)), key=lambda place: (-abs(values[place]), place))


def chosen(values, places):
    places = set(places)
    return [value if place in places else 0.0 for place, value in enumerate(values)]


def trimmed(values, density):
    """The trim of TIES."""
    keep = 0 if density == 0 else max(1, int(density * len(values)))
    return chosen(values, in_order(values)[:keep])


def breadcrumbs(values, density, gamma):
    keep = int(density * len(values))
    dropped = min(int(gamma * len(values)), len(values) - keep)
    return list(values) if density == 1 else chosen(values, in_order(values)[dropped : dropped + keep])


def drawn(values, density, *, seed, name, model):
    """The mask of DARE: one draw an entry from the stream of this tensor of this model."""
    draws = torch.rand(len(values), generator=torch_stream(seed, "merge", name, model)).tolist()
    return [value if draw < density else 0.0 for value, draw in zip(values, draws, strict=True)]


def magpruned(rows, density, epsilon, *, seed, name, model):
    """The mask of DELLA: the draw is held against a probability that grows with the rank of the entry in its row."""
    draws = torch.rand(len(rows), len(rows[0]), generator=torch_stream(seed, "merge", name, model)).tolist()
    result = []
    for row, drawing in zip(rows, draws, strict=True):
        for place, (value, draw) in enumerate(zip(row, drawing, strict=True)):
            below = sum((abs(other), at) < (abs(value), place) for at, other in enumerate(row))
            share = density - epsilon + 2 * epsilon * below / (len(row) - 1)
            result.append(value if density == 1 or (density > 0 and draw < share) else 0.0)
    return result


def rescaled(before, after, rescale, density):
    kept = sum(map(abs, after))
    factor = {"none": 1.0, "l1": sum(map(abs, before)) / kept if kept else 1.0, "inverse_density": 1 / (density or 1)}
    return [value * factor[rescale] for value in after]


def summed(columns, weights):
    return [sum(value * weight for value, weight in zip(column, weights, strict=True)) for column in columns]


def elected(columns, weights, *, vote="mass", sign_tie="plus", weight_before_vote=True, normalize=True):
    """The election of TIES."""

    def ballots(column):
        return [value * (weight if weight_before_vote else 1) for value, weight in zip(column, weights, strict=True)]

    outcomes = [sign(sum(ballots(column) if vote == "mass" else map(sign, ballots(column)))) for column in columns]
    tie = {"plus": 1, "zero": 0, "global": sign(sum(outcomes))}[sign_tie]
    result = []
    for column, outcome in zip(columns, outcomes, strict=True):
        won = outcome or tie
        voted = zip(column, ballots(column), weights, strict=True)
        kept = [(value, weight) for value, ballot, weight in voted if sign(ballot) == won != 0]
        total = sum(value * weight for value, weight in kept)
        result.append(total / (sum(weight for _, weight in kept) or 1.0) if normalize else total)
    return result


def sce(columns, topk):
    variances = [statistics.pvariance(column) for column in columns]
    keep = int(topk * sum(variance > 0 for variance in variances))
    left = set(sorted(range(len(columns)), key=lambda place: (-variances[place], place))[:keep])
    columns = [column if topk == 1 or place in left else [0.0] * len(column) for place, column in enumerate(columns)]
    squares = [sum(value**2 for value in vector) for vector in zip(*columns, strict=True)]
    shares = [square / sum(squares) if sum(squares) else 1 / len(squares) for square in squares]
    return elected(columns, shares, weight_before_vote=False)


def ram(columns, *, epsilon, r=0.0, alpha=0.0):
    active = [[abs(value) > epsilon for value in column] for column in columns]
    factors = []
    for place in range(len(columns[0])):
        mine = [row for row in active if row[place]]
        unique = sum(sum(row) == 1 for row in mine)
        factors.append(1 + r * min((len(mine) - unique) / unique, alpha) if unique else 1.0)
    result = []
    for column, row in zip(columns, active, strict=True):
        kept = [(value, factor) for value, factor, on in zip(column, factors, row, strict=True) if on]
        if len(kept) == 1:
            result.append(kept[0][0] * kept[0][1])
        else:
            result.append(sum(value for value, _ in kept) / max(len(kept), 1))
    return result


def cosine(one, other):
    lengths = math.hypot(*one) * math.hypot(*other)
    return sum(a * b for a, b in zip(one, other, strict=True)) / lengths if lengths else 0.0


def slerp(one, other, t):
    angle = math.acos(cosine(one, other))
    left, right = math.sin((1 - t) * angle) / math.sin(angle), math.sin(t * angle) / math.sin(angle)
    return [left * a + right * b for a, b in zip(one, other, strict=True)]


def multislerp(vectors, shares):
    units = [[value / math.hypot(*vector) for value in vector] for vector in vectors]
    mean = summed(list(zip(*units, strict=True)), shares)
    scale = sum(share * math.hypot(*vector) for share, vector in zip(shares, vectors, strict=True))
    return [scale * value / math.hypot(*mean) for value in mean]


def model_stock(base, vectors):
    """``vectors`` are the inputs themselves."""
    n = len(vectors)
    deltas = [[value - start for value, start in zip(vector, base, strict=True)] for vector in vectors]
    pairs = [cosine(deltas[i], deltas[j]) for i in range(n) for j in range(i)]
    c = sum(pairs) / len(pairs)
    t = n * c / (1 + (n - 1) * c)
    return [
        t * sum(column) / n + (1 - t) * start for column, start in zip(zip(*vectors, strict=True), base, strict=True)
    ]


def arcee_fusion(base_rows, donor_rows):
    def softmax(row):
        return [math.exp(value) / sum(map(math.exp, row)) + 1e-8 for value in row]

    importances = []
    for base, donor in zip(base_rows, donor_rows, strict=True):
        p, q = softmax(donor), softmax(base)
        divergence = sum(a * math.log(a / b) for a, b in zip(p, q, strict=True))
        importances.append([abs(a - b) * divergence for a, b in zip(base, donor, strict=True)])
    values = sorted(value for row in importances for value in row)
    lower, median, upper = (values[int(q * (len(values) - 1))] for q in (0.25, 0.5, 0.75))
    return [
        [b if importance >= median + 1.5 * (upper - lower) else a for a, b, importance in zip(*rows, strict=True)]
        for rows in zip(base_rows, donor_rows, importances, strict=True)
    ]
