"""Draws the pictures of the pages of measures: one SVG a measure, named by its id, and those of their neighbours.

    python3 docs/explanation/measures/images/make.py

Needs nothing but Python 3.9. Figures are those that the pages give, with their commands; worked ones are computed here.
Each picture is legible in light and dark, and holds its words as text. The files `make_*.py` have a function a picture.
"""

from importlib import import_module
from pathlib import Path

from chart import PICTURES

# Pictures of the pages beside the measures stand in their folder.
BESIDE = ("anchors", "intervals", "votes")


if __name__ == "__main__":
    here = Path(__file__).parent
    for module in sorted(here.glob("make_*.py")):
        import_module(module.stem)
    for name, draw in PICTURES.items():
        folder = here.parents[1] / "images" if name in BESIDE else here
        folder.mkdir(exist_ok=True)
        draw().write(folder / f"{name}.svg")
    print(f"{len(PICTURES)} pictures")
