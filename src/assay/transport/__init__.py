"""Optimal transport between neurons and between layers: costs, plans with a status, couplings, barycentric maps."""
