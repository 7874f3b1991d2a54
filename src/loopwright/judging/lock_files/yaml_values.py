"""YAML as plain values. Each scalar is its written text."""

from __future__ import annotations

from loopwright.kernel import yaml_nodes


def read_yaml(data: bytes) -> object:
    """The single document in these bytes."""
    return _value(yaml_nodes.read_nodes(data))


def _value(node: yaml_nodes.Node) -> object:
    match node:
        case yaml_nodes.Mapping():
            return {key.text: _value(inside) for key, inside in node.entries}
        case yaml_nodes.Sequence():
            return [_value(item) for item in node.items]
        case _:
            return node.text
