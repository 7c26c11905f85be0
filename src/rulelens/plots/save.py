"""Save a figure: whole or not at all, and the same file for the same figure."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from rulelens.errors import OutputError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FORMATS = (".png", ".svg")


def save_figure(drawn: Figure | Axes, path: str | os.PathLike[str], *, dpi: float = 150) -> Path:
    """Write a figure, or the figure of some axes, to a PNG or SVG file.

    A file that was there before is replaced only once the new one is complete.

    Parameters
    ----------
    drawn : matplotlib Figure or Axes
    path : str or path
        Ends in ``.png`` or ``.svg``.
    dpi : float
        Resolution of a PNG, in dots an inch.

    Returns
    -------
    Path
        Where the figure is.

    Raises
    ------
    OutputError
        Another ending, a folder that is not there, or one that cannot be written to.
    """
    import matplotlib
    from matplotlib.figure import Figure

    target = Path(path)
    suffix = target.suffix.lower()
    if suffix not in FORMATS:
        raise OutputError(
            f"Cannot tell the picture's format from '{target.name}'. End it in .png or .svg."
        )
    folder = target.parent
    if not folder.is_dir():
        raise OutputError(f"There is no folder '{folder}' for '{target.name}'. Make it first.")
    if target.is_dir():
        raise OutputError(f"'{target}' is a folder. Give the name of a file.")
    figure = drawn if isinstance(drawn, Figure) else drawn.get_figure(root=True)
    if figure is None:
        raise OutputError("These axes have no figure. Draw on axes that belong to one.")
    metadata = {"Date": None} if suffix == ".svg" else {"Software": None}
    temporary: str | None = None
    try:
        handle, temporary = tempfile.mkstemp(suffix=suffix, prefix=".rulelens-", dir=folder)
        os.close(handle)
        with matplotlib.rc_context({"svg.hashsalt": "rulelens", "svg.fonttype": "path"}):
            figure.savefig(temporary, format=suffix[1:], dpi=dpi, metadata=metadata)
        os.chmod(temporary, 0o666 & ~_umask())
        os.replace(temporary, target)
        temporary = None
    except OSError as e:
        reason = e.strerror or str(e)
        raise OutputError(f"Cannot write '{target}': {reason}. Choose another place.") from e
    finally:
        if temporary is not None:
            Path(temporary).unlink(missing_ok=True)
    return target


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
