"""What to type instead of a command line that cannot be understood."""

import click

__all__ = ["hinted"]


def hinted(error: click.UsageError) -> str:
    """The message of `error`; where an option is missing or unknown, with the command or the option to type."""
    match error:
        case click.MissingParameter(param=click.Option() as option, ctx=click.Context() as context):
            name = min(option.opts, key=len)
            value = f"{name} {option.make_metavar(context)}"
            arguments = [one.make_metavar(context) for one in context.command.params if isinstance(one, click.Argument)]
            return f"add {value}: {' '.join((context.command_path, *arguments, value))}"
        case click.NoSuchOption(option_name=str(name), ctx=click.Context() as context):
            for known in context.command.params:
                if isinstance(known.type, click.Choice) and name.lstrip("-") in known.type.choices:
                    return f"no option {name}; did you mean {known.opts[0]} {name.lstrip('-')}?"
    return error.format_message()
