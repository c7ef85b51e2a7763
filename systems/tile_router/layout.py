# SPDX-License-Identifier: Apache-2.0
"""Where the pipelines of tile-router are, on a grid of any size: tiles of stages, slots of linecards, packet buffers.

A pipeline has four tiles: stages 1 to 3 beside each other, for the static networks, and an output queue (in version V: none).

* I: a row is a pipeline. Others: a column is one, from the north: rows 0 to 2, and the last row for the output queue.
* IV and null keep payloads in linecards, so no static path of a pipeline leaves it. With six rows or more there is a second
  band of pipelines from the south, its rows counted from there: of four rows in eight, else of two. Then
  a port of a band of four rows has one slot for both ways. In a band of two rows a pipeline is a square of 2 x 2.
* II, III, III.d and V: packet buffers at the west and the east; a payload whose pipeline is not beside them goes down its own
  column to a row of its own, and along that: paths lie around each other, so none crosses another (paper: section 4).

                                  columns                            rows
    I                             4 to 8                             2 to 8, a pipeline each
    II, III, III.d, V             2 to 8, a pipeline each            4 to 8: a row for each pipeline beyond the outermost one
    IV, null                      2 to 8                             2 to 8
"""

from collections.abc import Iterator
from dataclasses import dataclass

from emery.common import UserError
from emery.make import formats

_mesh = formats.load("mesh_pkg")
_STEPS = {_mesh.North: (0, -1), _mesh.East: (1, 0), _mesh.South: (0, 1), _mesh.West: (-1, 0)}
_MIRRORED = {_mesh.North: _mesh.South, _mesh.South: _mesh.North}


@dataclass(frozen=True)
class Place:
    """Where a message goes: a tile's core, or out of the grid on a side of it."""

    x: int
    y: int
    exit: int = _mesh.Core

    def code(self) -> int:
        """As place_t."""
        return _mesh.place_t.pack(exit=self.exit, y=self.y, x=self.x)

    def header(self, user: int = 0, length: int = 0, src: int = 0) -> int:
        """Header of a message to here."""
        return _mesh.header_t.pack(user=user, src=src, len=length, dest=self.code())

    def side_to(self, other: "Place") -> int:
        """The side on which a tile beside this one is."""
        return next(side for side, step in _STEPS.items() if (other.x - self.x, other.y - self.y) == step)


@dataclass(frozen=True)
class Pipeline:
    """Tiles of the four stages, slots in and out."""

    stages: tuple[Place, Place, Place, Place]
    enter: Place
    leave: Place
    table: Place  # the nearest lookup table


@dataclass(frozen=True)
class Layout:
    """Where all pipelines of a version are."""

    columns: int
    rows: int
    pipelines: list[Pipeline]
    banks: list[Place]  # the packet buffer of each; none: payloads stay in linecards
    bands: int = 1  # of pipelines: from the north, from the south

    @property
    def tables(self) -> list[Place]:
        """The lookup tables."""
        return list(dict.fromkeys(x.table for x in self.pipelines))

    def shared_slots(self) -> bool:
        """Whether frames come in and leave at the same slots."""
        return any(x.enter == x.leave for x in self.pipelines)

    def number(self, place: Place, turned: bool) -> int:
        """What third stages and outputs call each other (number_of in programs/tile.h)."""
        if self.bands > 1:
            return place.x | (place.y & 4) << 1
        return place.y if turned else place.x

    def to_bank(self, pipeline: int) -> list[Place]:
        """Tiles that pass payloads on from a third stage, in their order; none: the second stage is beside its bank."""
        x, bank = self.pipelines[pipeline].stages[2].x, self.banks[pipeline]
        if bank.y == 1:
            return []
        step = 1 if bank.x > x else -1
        return [Place(x, y) for y in range(3, bank.y)] + [Place(along, bank.y) for along in range(x, bank.x + step, step)]


def _rows_are_pipelines(columns: int, rows: int) -> Layout:
    if columns < 4:
        raise UserError(f"version I needs four columns for its four stages, not {columns}")
    table, half = Place(0, 0, _mesh.North), rows // 2
    pipelines = [
        Pipeline(
            tuple(Place(x, y) for x in (0, 1, 2, columns - 1)),
            Place(0, y, _mesh.West),
            Place(columns - 1, y, _mesh.East),
            table,
        )
        for y in range(rows)
    ]
    # Two packet buffers that are shared: above and below the third stages.
    banks = [Place(2, 0, _mesh.North) if y < half else Place(2, rows - 1, _mesh.South) for y in range(rows)]
    return Layout(columns, rows, pipelines, banks)


def _band(columns: int, rows: int, deep: int, south: bool, ends: int) -> list[Pipeline]:
    """Pipelines of a band of `deep` rows; `ends`: the row of output queues, and of slots out where it is the last one."""

    def place(x: int, y: int, exit_: int = _mesh.Core) -> Place:
        return Place(x, rows - 1 - y, _MIRRORED.get(exit_, exit_)) if south else Place(x, y, exit_)

    found = []
    for x in range(0, columns - (deep == 2), 2 if deep == 2 else 1):
        west = x < columns // 2
        table = place(0, 0, _mesh.West) if west else place(columns - 1, 0, _mesh.East)
        if deep == 2:
            stages, leave = ((x, 0), (x, 1), (x + 1, 1), (x + 1, 0)), place(x + 1, 0, _mesh.North)
        else:
            stages = ((x, 0), (x, 1), (x, 2), (x, ends))
            leave = place(x, ends, _mesh.South) if ends == rows - 1 else place(x, 0, _mesh.North)
        found.append(Pipeline(tuple(place(*at) for at in stages), place(x, 0, _mesh.North), leave, table))
    return found


def lay_out(columns: int, rows: int, turned: bool, held: bool) -> Layout:
    """`turned`: a row is a pipeline; `held`: payloads stay in linecards."""
    if turned:
        return _rows_are_pipelines(columns, rows)
    if held:
        if rows < 4:
            return Layout(columns, rows, _band(columns, rows, 2, False, 0), [])
        if rows < 6:
            return Layout(columns, rows, _band(columns, rows, 4, False, rows - 1), [])
        both = _band(columns, rows, 4, False, 3) + _band(columns, rows, 4 if rows == 8 else 2, True, 3)
        return Layout(columns, rows, both, [], bands=2)
    first = columns // 2
    last = columns - 1
    beyond = [x if x < first else last - x for x in range(columns)]  # pipelines between each and its banks
    needed = max(4, *(x + 3 for x in beyond if x)) if any(beyond) else 4
    if rows < needed:
        raise UserError(
            f"packet buffers of {columns} columns need {needed} rows, not {rows}, or their payloads' paths would cross"
        )
    banks = [
        Place(0, x + 2 if x else 1, _mesh.West) if i < first else Place(last, x + 2 if x else 1, _mesh.East)
        for i, x in enumerate(beyond)
    ]
    return Layout(columns, rows, _band(columns, rows, 4, False, rows - 1), banks)


def route(start: Place, end: Place) -> Iterator[tuple[Place, int, int]]:
    """The routers of a message's way along x, then y: tile, port it comes in by, port it leaves by."""
    x, y, came = start.x, start.y, start.exit
    while True:
        out = _mesh.East if end.x > x else _mesh.West if end.x < x else 0
        out = out or (_mesh.South if end.y > y else _mesh.North if end.y < y else end.exit)
        yield Place(x, y), came, out
        if (x, y) == (end.x, end.y):
            return
        x, y = x + _STEPS[out][0], y + _STEPS[out][1]
        came = {_mesh.North: _mesh.South, _mesh.South: _mesh.North, _mesh.East: _mesh.West, _mesh.West: _mesh.East}[out]
