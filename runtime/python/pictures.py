# pictures.py: turns the pixels of pictures into a model's images, as its image processor does.
from __future__ import annotations

import ctypes
from typing import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calls import _address
from library import _Library, _Model
from values import _list


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
            pixels = np.asarray(picture)
            if pixels.dtype != np.uint8 or pixels.ndim != 3 or pixels.shape[2] != 3 or 0 in pixels.shape:
                raise ValueError("picture %d: is %s %s, but uint8 [height, width, 3] is expected"
                                 % (i, pixels.dtype, list(pixels.shape)))
            pixels = np.require(pixels, "uint8", ["C", "A"])
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
