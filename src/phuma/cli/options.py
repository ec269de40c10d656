"""Make command-line options from configuration dataclasses: a field is an option, the text under it its help."""

from __future__ import annotations

import argparse
import ast
import inspect
import sys
import textwrap
from collections.abc import Callable, Sequence
from dataclasses import MISSING, fields
from functools import cache, partial
from pathlib import Path
from typing import Any, TypeVar, get_args, get_type_hints

from phuma.core.names import known_name
from phuma.errors import ConfigError

Cfg = TypeVar("Cfg")


@cache
def field_help(cfg: type) -> dict[str, str]:
    """Return the string under each field of a dataclass, as it is in the source."""
    body = ast.parse(textwrap.dedent(inspect.getsource(cfg))).body[0]
    assert isinstance(body, ast.ClassDef)
    out = {}
    for field, text in zip(body.body, body.body[1:]):
        if isinstance(field, ast.AnnAssign) and isinstance(text, ast.Expr) and isinstance(text.value, ast.Constant):
            out[ast.unparse(field.target)] = " ".join(str(text.value.value).split())
    return out


def add_options(parser: argparse.ArgumentParser, cfg: type, only: Sequence[str]) -> None:
    """Add an option `--name` for each named field of a dataclass; the field's own default holds where none is given."""
    group = parser.add_argument_group(_first_sentence(cfg))
    hints, texts = get_type_hints(cfg), field_help(cfg)
    for field in fields(cfg):
        if field.name not in only:
            continue
        kinds = [k for k in (get_args(hints[field.name]) or (hints[field.name],)) if k is not type(None)]
        default = "" if field.default in (None, MISSING) else f" (default: {field.default})"
        name, text = f"--{field.name.replace('_', '-')}", (texts.get(field.name, "") + default).replace("%", "%%")
        if kinds == [bool]:
            switch = argparse.BooleanOptionalAction
            group.add_argument(name, dest=field.name, action=switch, default=argparse.SUPPRESS, help=text)
            continue
        words = [word for kind in kinds for word in get_args(kind)]
        shown = {float: "N", int: "N", Path: "FILE"}.get(kinds[0], field.name.upper())
        group.add_argument(
            name,
            dest=field.name,
            type=partial(_value, kinds[0], words) if words else kinds[0],
            default=argparse.SUPPRESS,
            metavar="|".join([shown, *words]),
            help=text,
        )


def _value(kind: Callable[[str], Any], words: Sequence[str], text: str) -> Any:
    """Return one of the words as it is, and any other text as a value of a kind."""
    if text in words:
        return text
    try:
        return kind(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"invalid value {text!r}; expected a number or {', '.join(words)}") from None


def from_options(cfg: type[Cfg], args: argparse.Namespace) -> Cfg:
    """Return the dataclass with the options that were given."""
    names = {f.name for f in fields(cfg)}  # type: ignore[arg-type]
    return cfg(**{name: value for name, value in vars(args).items() if name in names})


def split_words(words: Sequence[str]) -> list[str]:
    """Return values that were separated by spaces or commas, or given by several flags."""
    return [value for word in words for value in word.split(",") if value]


def split_values(words: Sequence[str], valid: Sequence[str], what: str) -> list[str]:
    """Return values that were separated by spaces or commas; one that is not valid is a ConfigError."""
    values = split_words(words)
    if not values:
        raise ConfigError(f"no {what} given; there are: {', '.join(valid)}")
    return [known_name(value, valid, what) for value in values]


def add_ray_option(parser: argparse.ArgumentParser, work: str) -> None:
    """Add --ray, on which some work runs; without an address its value is empty."""
    parser.add_argument(
        "--ray", nargs="?", const="", metavar="ADDRESS",
        help=f"{work} on Ray: on the cluster at ADDRESS (`auto`: the one this machine belongs to), or without ADDRESS "
        "on a Ray of its own; all machines need this phuma and see all folders under the same names",
    )  # fmt: skip


def parse_with_lock(parser: argparse.ArgumentParser, argv: Sequence[str], robot: Any = "g1") -> argparse.Namespace:
    """Add --lock to a parser with --robot and parse: the robots of `args.robot`, or by default `robot`, have the
    joints locked."""
    parser.add_argument(
        "--lock", action="append", default=[], metavar="JOINTS",
        help="lock the robot's joints of these names, as 'wrist*', where they are when it stands, or at an angle in "
        "degrees, as 'elbow*=90'; several, with commas or --lock each",
    )  # fmt: skip
    args = parser.parse_args(argv)
    patterns = [pattern for text in args.lock for pattern in text.split(",") if pattern]
    if patterns:
        args.robot = _locked(getattr(args, "robot", None) or robot, patterns)
    elif args.lock:
        raise ConfigError("--lock names no joint; for example --lock 'wrist*'")
    return args


def _locked(robot: Any, patterns: Sequence[str]) -> Any:
    """Return what names a robot with joints locked, or lists of them; a locked leg is said on standard error."""
    from phuma.robots import free_robot, load_robot, spec_of  # here, not above: --help is quick
    from phuma.robots.locking import leg_joints

    if isinstance(robot, list):
        return [_locked(one, patterns) for one in robot]
    out = []
    for name in filter(None, robot.split(",")):
        model = load_robot(name, patterns)
        out.append(spec_of(model))
        if legs := [joint for joint in model.locked if joint in leg_joints(free_robot(model))]:
            print(f"Note: {', '.join(legs)} carry the robot; few motions can be followed without them", file=sys.stderr)
    return ",".join(out)


def command_parser(name: str, module: Any) -> argparse.ArgumentParser:
    """Return a parser whose description is the command module's docstring."""
    return argparse.ArgumentParser(
        prog=f"phuma {name}", description=module, formatter_class=argparse.RawDescriptionHelpFormatter
    )


def _first_sentence(cfg: type) -> str:
    return (cfg.__doc__ or cfg.__name__).strip().split("\n")[0].rstrip(".").lower()
