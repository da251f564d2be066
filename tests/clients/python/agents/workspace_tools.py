"""The tools that every framework's agent gets; they work in the current folder."""

import pathlib
import subprocess


def run_command(command: str) -> str:
    """Runs a shell command and returns what it printed.

    Args:
        command: The command line.
    """
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True)
    return f"exit code {done.returncode}\n{done.stdout}{done.stderr}"


def read_file(path: str) -> str:
    """Returns the text of a file.

    Args:
        path: Where the file is.
    """
    return pathlib.Path(path).read_text()


def write_file(path: str, text: str) -> str:
    """Writes a file.

    Args:
        path: Where the file is.
        text: Its new text.
    """
    pathlib.Path(path).write_text(text)
    return f"wrote {path}"


def edit_file(path: str, old: str, new: str) -> str:
    """Replaces a part of a file.

    Args:
        path: Where the file is.
        old: The text to replace.
        new: What takes its place.
    """
    file = pathlib.Path(path)
    text = file.read_text()
    if text.count(old) != 1:
        return f"error: found {text.count(old)} times in {path}"
    file.write_text(text.replace(old, new))
    return f"edited {path}"


TOOLS = [run_command, read_file, write_file, edit_file]
INSTRUCTIONS = "You are a software engineer. Use your tools until the task is done."
MODEL = "gpt-5.5"
# More steps than any script has: the server is to stop a loop, not the framework.
MOST_STEPS = 200
