#!/usr/bin/env python3
"""Makes small PNG and JPEG files, and what transformers and Pillow make of them.

    files/NAME.png, .jpg    a picture
    files/NAME.ppm          its pixels as transformers' load_image gives them: turned upright, RGB
    resized.txt             for each case a line: number of the filter, width and height of a picture, width and
                            height of the result, a checksum of the result; pixels are drawn as
                            test_picture.c draws them
    grids.txt               for each case a line: width and height of a picture, the side of a patch, the most
                            patches, and the columns and rows of patches that SigLIP 2's processor makes

Run with Python 3.11, Pillow 13.0.0, transformers 5.23.0, numpy 2.4.6.
"""

import io
import shutil
import struct
import zlib
from pathlib import Path

import numpy as np
from PIL import Image
from transformers.image_utils import load_image
from transformers.models.siglip2.image_processing_pil_siglip2 import get_image_size_for_max_num_patches

HERE = Path(__file__).resolve().parent
FILES = HERE / "files"
WIDTH, HEIGHT = 11, 7

CHANNELS = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}
PASSES = [(0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2)]


def chunk(name, data):
    body = name + data
    return struct.pack(">I", len(data)) + body + struct.pack(">I", zlib.crc32(body))


def packed(rows, depth):
    """The bytes of rows of samples, each after a filter of none."""
    result = b""
    for row in rows:
        samples = row.reshape(-1)
        if depth == 16:
            line = samples.astype(">u2").tobytes()
        else:
            bits = "".join(format(int(value), f"0{depth}b") for value in samples)
            bits += "0" * (-len(bits) % 8)
            line = bytes(int(bits[i:i + 8], 2) for i in range(0, len(bits), 8))
        result += b"\0" + line
    return result


def png(samples, depth, colour, interlaced=False, before=(), after=()):
    """A PNG file of samples [height][width][channels]; before, after: chunks around the pixels."""
    height, width = samples.shape[:2]
    if interlaced:
        data = b""
        for x, y, dx, dy in PASSES:
            part = samples[y::dy, x::dx]
            if part.size:
                data += packed(part, depth)
    else:
        data = packed(samples, depth)
    header = struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, int(interlaced))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + b"".join(chunk(*each) for each in before)
            + chunk(b"IDAT", zlib.compress(data)) + b"".join(chunk(*each) for each in after) + chunk(b"IEND", b""))


def drawn(depth, colour, seed):
    generator = np.random.default_rng(seed)
    return generator.integers(0, 1 << depth, (HEIGHT, WIDTH, CHANNELS[colour]))


def exif(orientation, order="<"):
    """Exif data with a tag before the orientation."""
    mark = b"II*\0" if order == "<" else b"MM\0*"
    return (mark + struct.pack(order + "IH", 8, 2) + struct.pack(order + "HHIHH", 256, 3, 1, 5, 0)
            + struct.pack(order + "HHIHH", 274, 3, 1, orientation, 0) + struct.pack(order + "I", 0))


def xmp(orientation):
    return (f'<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:Description tiff:Orientation="{orientation}"/>'
            "</x:xmpmeta>").encode()


def photo(mode="RGB"):
    """A picture with edges and slopes, larger than one block of a JPEG file."""
    y, x = np.mgrid[0:21, 0:37]
    planes = [(x * 7 + y) % 256, (y * 12 + x) % 256, ((x // 5 + y // 4) % 2) * 200 + 20, (x * y) % 256]
    count = len(Image.new(mode, (1, 1)).getbands())
    array = np.stack(planes[:count], -1).astype(np.uint8)
    return Image.fromarray(array[..., 0] if count == 1 else array, mode)


def jpeg(mode="RGB", **options):
    to = io.BytesIO()
    photo(mode).save(to, "JPEG", **{"quality": 80, **options})
    return to.getvalue()


def pngs():
    seed = 0
    for colour, word in ((0, "grey"), (2, "rgb"), (3, "palette"), (4, "grey_alpha"), (6, "rgba")):
        for depth in {0: (1, 2, 4, 8, 16), 3: (1, 2, 4, 8)}.get(colour, (8, 16)):
            seed += 1
            samples = drawn(depth, colour, seed)
            before = []
            if colour == 3:
                colours = np.random.default_rng(seed).integers(0, 256, (1 << depth, 3)).astype(np.uint8)
                before = [(b"PLTE", colours.tobytes())]
            for interlaced in (False, True):
                yield f"{word}{depth}{'_interlaced' * interlaced}.png", png(samples, depth, colour, interlaced, before)
    samples = drawn(8, 2, 90)
    yield "transparent_colour.png", png(samples, 8, 2, before=[(b"tRNS", b"\0\1\0\2\0\3")])
    yield "palette_short.png", png(drawn(4, 3, 91), 4, 3, before=[(b"PLTE", bytes(range(10, 40)))])
    yield "palette_transparent.png", png(drawn(2, 3, 92), 2, 3, before=[
        (b"PLTE", bytes(range(100, 112))), (b"tRNS", b"\0\x80\xff")])
    for orientation in (1, 3, 5, 6, 9):
        yield f"exif{orientation}.png", png(samples, 8, 2, before=[(b"eXIf", exif(orientation, ">"))])
    yield "exif_late8.png", png(samples, 8, 2, after=[(b"eXIf", exif(8))])
    yield "xmp7.png", png(samples, 8, 2, before=[(b"iTXt", b"XML:com.adobe.xmp\0\0\0\0\0" + xmp(7))])
    yield "gamma.png", png(samples, 8, 2, before=[(b"gAMA", struct.pack(">I", 100000)),
                                                 (b"sBIT", b"\5\6\5"), (b"bKGD", b"\0\1\0\2\0\3")])
    yield "one_pixel.png", png(samples[:1, :1], 8, 2)


def jpegs():
    for name, options in (("rgb444", {"subsampling": 0}), ("rgb422", {"subsampling": 1}), ("rgb420", {"subsampling": 2}),
                          ("progressive", {"progressive": True}), ("restarts", {"restart_marker_blocks": 2}),
                          ("keep_rgb", {"keep_rgb": True})):
        yield name + ".jpg", jpeg(**options)
    yield "grey.jpg", jpeg("L")
    yield "cmyk.jpg", jpeg("CMYK")
    for orientation in range(2, 9):
        yield f"exif{orientation}.jpg", jpeg(exif=b"Exif\0\0" + exif(orientation, "<>"[orientation % 2]))
    yield "xmp6.jpg", jpeg(xmp=xmp(6))


def pixels_of(width, height, seed):
    """The bytes that test_picture.c draws."""
    state, values = seed, bytearray()
    for _ in range(width * height * 3):
        state = (state * 1103515245 + 12345) & 0x7fffffff
        values.append(state >> 16 & 0xff)
    return np.frombuffer(bytes(values), np.uint8).reshape(height, width, 3)


def resized():
    sizes = ((16, 12, 8, 8), (7, 5, 23, 31), (64, 64, 9, 9), (31, 17, 31, 9), (31, 17, 12, 17), (1, 1, 5, 4),
             (3, 200, 8, 8), (200, 3, 7, 11), (25, 25, 25, 25), (97, 61, 32, 20), (5, 5, 4, 6), (300, 2, 1, 1),
             (40, 50, 30, 35), (40, 50, 30, 25))
    cases = [(number, *each) for number in (2, 3, 0, 1, 4, 5) for each in sizes]
    cases.append((5, 50, 52, 27, 18))  # needs Pillow's factors of 32 bits
    lines = []
    for seed, (number, width, height, *size) in enumerate(cases, 1):
        image = Image.fromarray(pixels_of(width, height, seed)).resize(size, Image.Resampling(number))
        sum_of = zlib.crc32(image.tobytes())
        lines.append(f"{number} {width} {height} {size[0]} {size[1]} {sum_of:08x}")
    return "\n".join(lines) + "\n"


def grids():
    lines = []
    for patch, most in ((16, 256), (14, 1), (4, 20), (16, 1024), (5, 7)):
        for width, height in ((1, 1), (16, 16), (640, 480), (480, 640), (100, 3000), (3000, 2), (5000, 5000), (333, 777),
                              (1 << 24, 1 << 20), (17, 16), (256, 255), (4, 5), (20000, 1)):
            down, across = get_image_size_for_max_num_patches(height, width, patch, most)
            lines.append(f"{width} {height} {patch} {most} {across // patch} {down // patch}")
    return "\n".join(lines) + "\n"


def main():
    shutil.rmtree(FILES, ignore_errors=True)
    FILES.mkdir()
    for name, data in [*pngs(), *jpegs()]:
        path = FILES / name
        path.write_bytes(data)
        image = load_image(str(path))
        header = f"P6 {image.width} {image.height} 255\n".encode()
        path.with_name(name + ".ppm").write_bytes(header + image.tobytes())
    (HERE / "resized.txt").write_text(resized())
    (HERE / "grids.txt").write_text(grids())


if __name__ == "__main__":
    main()
