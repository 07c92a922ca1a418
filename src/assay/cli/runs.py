"""``assay runs``: what was run, what it found, what differs, what is wrong with the record."""

import click


@click.group()
def runs() -> None:
    """x"""
