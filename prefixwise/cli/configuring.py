"""From the options of a command to the configuration of every file: what was said wins, the rest is left open."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import typer

    from prefixwise.core.config.layers import Layer, Origin
    from prefixwise.core.config.nearest import Configurations


def configurations(
    ctx: typer.Context, config: str | None, *, isolated: bool, json: bool = False, **settings: Any
) -> Configurations:
    """Return the configuration of every file, under what options and the environment say.

    Args:
        ctx: Tells which options were given.
        config: `--config`.
        isolated: `--isolated`.
        json: `--json`, which is short for a format.
        settings: The options that are called like settings; their defaults are nothing that was said.

    Raises:
        UserError: A configuration that is named cannot be read.
    """
    from prefixwise.core.config.nearest import Configurations

    return Configurations(_said(ctx, settings, json=json), config, isolated=isolated)


def _said(ctx: typer.Context, settings: dict[str, Any], *, json: bool) -> Layer:
    """Return what options and variables say, without their defaults."""
    from prefixwise.core.config.layers import Origin, OriginKind, layer

    kinds = {"COMMANDLINE": OriginKind.FLAG, "ENVIRONMENT": OriginKind.ENVIRONMENT}
    variables = {parameter.name: str(parameter.envvar) for parameter in ctx.command.params if parameter.envvar}
    said: dict[OriginKind, dict[str, Any]] = {kind: {} for kind in kinds.values()}
    origins: dict[str, Origin] = {}
    for name, value in settings.items():
        source = ctx.get_parameter_source(name)
        kind = kinds.get(source.name) if source is not None else None
        if kind is not None:
            key = name.replace("_", "-")
            said[kind][key] = tuple(value) if isinstance(value, list) else value
            origins[key] = Origin(kind, f"--{key}" if kind is OriginKind.FLAG else variables[name])
    if json:
        said[OriginKind.FLAG]["output-format"] = "json"
        origins["output-format"] = Origin(OriginKind.FLAG, "--json")
        said[OriginKind.ENVIRONMENT].pop("output-format", None)
    flags, environment = (layer(values, origins) for values in (said[OriginKind.FLAG], said[OriginKind.ENVIRONMENT]))
    return flags.over(environment)
