"""torch.hub: state_dicts of a URL, kept in a folder.

Code of repositories is not run: `load`, `list` and `help` raise MissingFeatureError.
"""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from typing import Any

from wengert import errors

__all__ = ["download_url_to_file", "get_dir", "help", "list", "load", "load_state_dict_from_url", "set_dir"]

HASH_REGEX = re.compile(r"-([a-f0-9]*)\.")  # weights-0123abcd.pth
READ_DATA_CHUNK = 128 * 1024  # bytes
_dir: str | None = None


def get_dir() -> str:
    """Return the folder of downloads: that of set_dir, else $TORCH_HOME/hub, else torch/hub in $XDG_CACHE_HOME or ~/.cache."""
    if _dir is not None:
        return _dir
    home = os.getenv("TORCH_HOME") or os.path.join(os.getenv("XDG_CACHE_HOME", "~/.cache"), "torch")
    return os.path.join(os.path.expanduser(home), "hub")


def set_dir(d: str | os.PathLike[str]) -> None:
    """Set the folder of downloads."""
    global _dir
    _dir = os.path.expanduser(os.fspath(d))


def download_url_to_file(url: str, dst: str | os.PathLike[str], hash_prefix: str | None = None, progress: bool = True) -> None:
    """Download a URL to a file. The file appears when it is complete.

    hash_prefix: the first digits of the SHA-256 hash of the content; RuntimeError if they differ. progress: accepted, without
    effect.
    """
    import hashlib
    import tempfile
    from urllib.request import Request, urlopen

    target = Path(dst).expanduser()
    with (
        urlopen(Request(url, headers={"User-Agent": "wengert.hub"})) as source,
        tempfile.TemporaryDirectory(dir=target.parent, prefix=f"{target.name}.") as folder,
    ):
        digest, part = hashlib.sha256(), Path(folder, "part")
        with part.open("wb") as file:
            while chunk := source.read(READ_DATA_CHUNK):
                file.write(chunk)
                digest.update(chunk)
        found = digest.hexdigest()
        if hash_prefix and not found.startswith(hash_prefix):
            raise RuntimeError(f'invalid hash value (expected "{hash_prefix}", got "{found}")')
        os.replace(part, target)


def load_state_dict_from_url(
    url: str,
    model_dir: str | None = None,
    map_location: Any = None,
    progress: bool = True,
    check_hash: bool = False,
    file_name: str | None = None,
    weights_only: bool = False,
) -> Any:
    """Return the object of a file that `save` has written, downloaded from a URL unless model_dir has it already.

    model_dir: a folder; None: checkpoints in get_dir(). file_name: None means the last part of the URL. check_hash: compare
    the content with the digits of a name such as weights-0123abcd.pth. weights_only is accepted: code in a file is never run.
    """
    from urllib.parse import urlparse

    from wengert.serialization import load

    folder = Path(os.path.join(get_dir(), "checkpoints") if model_dir is None else model_dir)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / (file_name or os.path.basename(urlparse(url).path))
    if not path.exists():
        sys.stderr.write(f'Downloading: "{url}" to {path}\n')
        found = HASH_REGEX.search(path.name) if check_hash else None
        download_url_to_file(url, path, found.group(1) if found else None, progress)
    return load(path, map_location=map_location, weights_only=True)


def _refuse(name: str) -> Exception:
    return errors.MissingFeatureError(
        f"hub.{name} is not part of wengert: it runs code of a repository. Hint: install the repository, and import its model."
    )


def load(repo_or_dir: str, model: str, *args: Any, **kwargs: Any) -> Any:
    """Refuse: code of a repository is not run."""
    raise _refuse("load")


def list(github: str, *args: Any, **kwargs: Any) -> Any:
    """Refuse: code of a repository is not run."""
    raise _refuse("list")


def help(github: str, model: str, *args: Any, **kwargs: Any) -> Any:
    """Refuse: code of a repository is not run."""
    raise _refuse("help")


def __dir__() -> Any:
    return sorted(__all__)
