"""Run `phuma`: find the sub-command, run it, and turn users' errors into messages and exit codes."""

from __future__ import annotations

import argparse
import io
import signal
import sys
from collections.abc import Sequence
from importlib import import_module

from phuma import __version__
from phuma.core.names import did_you_mean
from phuma.errors import ConfigError, MissingExtraError, PhumaError, lack_of, missing_extra

# Modules are imported when their command runs: help has to be quick.
COMMANDS = {
    "demo": "see the whole system work, without any data of your own",
    "curate": "turn recordings into clips that are physically plausible, and say why the others are not",
    "video": "turn a film of a person into a robot's motion, and a page that plays both in step",
    "retarget": "put clips or recordings on a robot",
    "compare": "compare retargeting methods on your own data",
    "robot": "make a folder for your own humanoid from its model file; check one; list the built-in ones",
    "build": "turn folders of recordings into a dataset for a robot; continues where it stopped",
    "certify": "perform clips under physics, in seconds each, and say which a robot really can perform",
    "report": "write one HTML page on a dataset, with its numbers, its filters and its worst clips",
    "status": "say how far a dataset is and what it holds",
    "verify": "check every file of a dataset: checksums, schema, finite, within the robot's limits",
    "query": "query a dataset's manifest by SQL",
    "select": "make a new dataset of a part of one: by query, category, metric, source, or a sample",
    "train": "train a policy that makes a robot track a dataset's clips under physics",
    "study": "ask a question of your own data by policies: methods, filters, sources, trackers in one table",
    "evaluate": "measure how well a policy tracks a dataset's clips: success, errors, the worst clips",
    "play": "watch a policy track a dataset's clips in the browser, or film it",
    "follow": "let a masked policy walk a path that nobody recorded",
    "policy": "export a policy as ONNX, and a motion with all that the policy needs to follow it",
    "export": "write robot motions in the layout that a trainer reads",
    "import": "add robot motions that others made to a dataset",
    "view": "show a dataset, clips or recordings in the browser",
    "share": "write one page that plays a clip in 3D anywhere, without a server",
    "render": "film robot motions, or make a sheet of stills, without a screen",
    "inspect": "say what a file is and how curation judges it",
    "synth": "write synthetic human motion, clean or with faults, with the ground truth beside it",
}
GOES_ON = "run the same command again: it goes on where it stopped"
AFTER_STOP = {
    "build": GOES_ON,
    "certify": "run the same command again: a dataset goes on where it stopped, files begin anew",
    "study": GOES_ON,
    "train": "run the same command with --resume: it goes on from the last checkpoint; without one, run it again",
}
"""How to go on after Ctrl-C; other commands begin anew"""
MODULES = {"import": "import_motions"}  # where a command's name cannot be a module's
EPILOG = """commands:
{commands}

`phuma COMMAND --help` explains one. A command ends with 0 when all went well, with 1 when some of the files were
unusable (it names them and finishes the others), with 2 when it was called wrongly, with 130 when it was stopped."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    words = list(sys.argv[1:] if argv is None else argv)
    parser = argparse.ArgumentParser(
        prog="phuma",
        description="Recordings of people in, motion that a humanoid robot can really perform out.",
        usage="phuma COMMAND ...",
        epilog=EPILOG.format(commands="\n".join(f"  {name:10}{text}" for name, text in COMMANDS.items())),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"phuma {__version__}")
    parser.add_argument("command", nargs="?", help=argparse.SUPPRESS)
    args = parser.parse_args(words[:1])
    if args.command is None:
        parser.print_help()
        return 2 if words else 0
    if args.command not in COMMANDS:
        near = did_you_mean(args.command, COMMANDS)
        print(f"phuma: unknown command {args.command!r}{near}; there are: {', '.join(COMMANDS)}", file=sys.stderr)
        return 2
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # names of files may hold what a terminal cannot show
            stream.reconfigure(errors="backslashreplace")
    signal.signal(signal.SIGTERM, _stop)
    try:
        try:
            return import_module(f"phuma.cli.{MODULES.get(args.command, args.command)}").main(words[1:])
        except ModuleNotFoundError as e:
            raise missing_extra(e, f"phuma {args.command}") from None
    except (ConfigError, MissingExtraError) as e:
        print(f"phuma {args.command}: {e}", file=sys.stderr)
        return 2
    except PhumaError as e:
        print(f"phuma {args.command}: {e}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        again = AFTER_STOP.get(args.command, "run the same command again: it begins anew")
        print(f"Stopped; {again}", file=sys.stderr)
        return 130
    except BrokenPipeError:  # the reader of a pipe went away, as with `| head`
        sys.stderr.close()
        return 0
    except OSError as e:  # a disk that is full, a folder that may not be written
        print(f"phuma {args.command}: {e.filename or ''}: {e.strerror or e}", file=sys.stderr)
        return 1
    except (MemoryError, ImportError, RuntimeError) as e:
        if (why := lack_of(e)) is None:
            raise
        print(f"phuma {args.command}: {why}", file=sys.stderr)
        return 1


def _stop(*_: object) -> None:
    """End on SIGTERM as on Ctrl-C: workers are ended too, and files are whole."""
    raise KeyboardInterrupt
