# pictures.py: turns the pixels of pictures into a model's images, as its image processor does.
from __future__ import annotations

import ctypes
from typing import Any, Dict, Sequence, Tuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calls import _address
from library import _Library, _Model
from values import _list


def _pixels(name: str, picture: ArrayLike) -> NDArray[np.uint8]:
    pixels = np.asarray(picture)
    if pixels.dtype != np.uint8 or pixels.ndim != 3 or pixels.shape[2] != 3 or 0 in pixels.shape:
        raise ValueError("%s: is %s %s, but uint8 [height, width, 3] is expected"
                         % (name, pixels.dtype, list(pixels.shape)))
    return np.require(pixels, "uint8", ["C", "A"])


class _Pictures:
    """The function of a library for pictures, with the size of an image."""

    def __init__(self, library: _Library, height: int, width: int) -> None:
        self._library, self._shape = library, (3, height, width)
        self._picture = library.function("picture", ctypes.c_int, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64,
                                         ctypes.c_void_p)

    def images(self, pictures: Sequence[ArrayLike]) -> NDArray[np.float32]:
        listed = _list("pictures", pictures)
        made = np.zeros((len(listed),) + self._shape, "float32")
        for i, picture in enumerate(listed):
            pixels = _pixels("picture %d" % i, picture)
            status = self._picture(_address(pixels), pixels.shape[1], pixels.shape[0], _address(made[i]))
            if status == 2:
                raise ValueError("picture %d: %d x %d pixels cannot become the model's %d x %d"
                                 % (i, pixels.shape[1], pixels.shape[0], self._shape[2], self._shape[1]))
            self._library.check(status)
        return made


class _PictureModel(_Model):
    """A model that takes pictures."""

    _pictures: _Pictures

    @classmethod
    def images(cls, pictures: Sequence[ArrayLike]) -> NDArray[np.float32]:
        """Turns pictures into the model's input, float32 [pictures][3][height][width], as its image processor does.

        A picture is uint8 [height, width, 3], red, green and blue, such as numpy.asarray(PIL.Image.open(...).convert(
        "RGB")). Pictures may have different sizes. It needs no weights: Model.images(...) works, too.
        """
        return cls._pictures.images(pictures)


class _Patches:
    """The function of a library for patches of pictures. rows: the most patches; patch: their side; inputs: the names of
    the model's inputs of patches, lengths and shapes."""

    def __init__(self, library: _Library, rows: int, patch: int, inputs: Tuple[str, ...]) -> None:
        self._library, self._shape, self._inputs = library, (rows, 3 * patch * patch), inputs
        self._picture = library.function("picture", ctypes.c_int, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64,
                                         ctypes.c_void_p, ctypes.c_void_p)

    def images(self, pictures: Sequence[ArrayLike]) -> Dict[str, NDArray[Any]]:
        listed = _list("pictures", pictures)
        made = np.zeros((len(listed),) + self._shape, "float32")
        shapes = np.zeros((len(listed), 2), "int32")
        for i, picture in enumerate(listed):
            pixels = _pixels("picture %d" % i, picture)
            status = self._picture(_address(pixels), pixels.shape[1], pixels.shape[0], _address(made[i]),
                                   _address(shapes[i]))
            if status == 2:
                raise ValueError("picture %d: %d x %d pixels cannot become %d patches or fewer"
                                 % (i, pixels.shape[1], pixels.shape[0], self._shape[0]))
            self._library.check(status)
        return dict(zip(self._inputs, (made, shapes.prod(1, dtype="int32"), shapes)))


class _PatchModel(_Model):
    """A model that takes pictures of any shape, as patches."""

    _pictures: _Patches

    @classmethod
    def images(cls, pictures: Sequence[ArrayLike]) -> Dict[str, NDArray[Any]]:
        """Turns pictures into the model's inputs, patches, lengths and shapes, as its image processor does: forward(
        **Model.images(pictures)). Pictures are as in other models of pictures."""
        return cls._pictures.images(pictures)
