"""Gallery: photos by month, albums, favourites, and a trash to restore photos from."""

from __future__ import annotations

import random
from collections.abc import Sequence
from datetime import datetime

from phonesim.app import App, Ui, Window
from phonesim.contents.photos import Album, Photo, furnish_photos
from phonesim.contents.timestamps import clock
from phonesim.facts import Facts, MissingFact
from phonesim.scene import Handler
from phonesim.toolkit.boxes import Column, Grid, Pad, Row, Space
from phonesim.toolkit.controls import IconButton
from phonesim.toolkit.month import MONTHS, day_words
from phonesim.toolkit.rows import Empty, ListRow
from phonesim.toolkit.texts import Heading, Picture, Text
from phonesim.toolkit.widget import Widget

MAX_PHOTOS = 40
COVER = "photo:empty"  # icon of an empty album


class GalleryApp(App):
    """Photos, and albums that contain them."""

    name = "Gallery"
    icon = "image"
    color = (200, 70, 120)
    kinds = (Photo, Album)

    def furnish(self, facts: Facts, rng: random.Random, now: datetime) -> None:
        furnish_photos(facts, rng, now)

    # Photos and albums -------------------------------------------------------------------------

    def home(self, ui: Ui) -> Window:
        tab = ui.tab("Photos", "Albums")
        search = IconButton("search", "Search photos", lambda: ui.go("search"))
        new_album = ("plus", "New album", lambda: ui.go("name_album", 0))
        return ui.page(
            "Gallery",
            self._photos(ui) if tab == "Photos" else self._albums(ui),
            tabs=ui.tabs("Photos", "Albums", icons=() if ui.version == 3 else ("image", "grid")),
            actions=[search],
            primary=new_album if tab == "Albums" else None,
        )

    def _photos(self, ui: Ui) -> list[Widget]:
        photos = _kept(ui)
        months: dict[tuple[int, int], list[Photo]] = {}
        for photo in photos[:MAX_PHOTOS]:
            months.setdefault((photo.taken.year, photo.taken.month), []).append(photo)
        body: list[Widget] = []
        for (year, month), taken in months.items():
            body += [Heading(f"{MONTHS[month - 1]} {year}"), _photo_grid(ui, taken)]
        return [*body, Space(16)] if body else [Empty("No photos", "image")]

    def _albums(self, ui: Ui) -> list[Widget]:
        photos = _kept(ui)
        tiles = [self._album_tile(ui, album, photos) for album in ui.facts.all(Album)]
        rows = [
            ListRow("Favourites", icon="heart", on_tap=lambda: ui.go("favourites")),
            ListRow("Trash", icon="trash", on_tap=lambda: ui.go("trash")),
        ]
        grid = Pad(Grid(tiles, 2, 12), sides=12, top=12)
        return [*rows, grid, Space(76)] if ui.version == 2 else [grid, *rows, Space(76)]

    def _album_tile(self, ui: Ui, album: Album, photos: Sequence[Photo]) -> Widget:
        inside = [photo for photo in photos if album.id in photo.albums]
        cover = inside[0].picture if inside else COVER
        picture = Picture(
            cover, high=110, label=album.name, on_tap=lambda: ui.go("album", album.id)
        )
        return Column([picture, Text(album.name, "strong", max_lines=1)], gap=4)

    def favourites(self, ui: Ui) -> Window:
        liked = [photo for photo in _kept(ui) if photo.favourite]
        grid = Pad(_photo_grid(ui, liked), sides=0, top=12)
        return ui.page("Favourites", [grid] if liked else [Empty("No favourites", "heart")])

    def search(self, ui: Ui) -> Window:
        query = ui.text("query").casefold()
        found = [p for p in _kept(ui) if query in f"{p.title} {p.place}".casefold()]
        return ui.page(
            "Search",
            [_photo_grid(ui, found[:MAX_PHOTOS])] if found else [Empty("No such photo", "search")],
            head=Pad(ui.field("query", "Search photos", icon="search"), sides=12, top=4, bottom=8),
        )

    # One album ---------------------------------------------------------------------------------

    def album(self, ui: Ui, album_id: int) -> Window:
        album = ui.facts.get(Album, album_id)
        inside = [photo for photo in _kept(ui) if album_id in photo.albums]
        return ui.page(
            album.name,
            [Pad(_photo_grid(ui, inside), sides=0, top=12)]
            if inside
            else [Empty("An empty album", "image")],
            actions=[
                IconButton(
                    "edit", "Rename album", lambda: ui.go("name_album", album_id, name=album.name)
                ),
                IconButton("trash", "Delete album", lambda: ui.go("delete_album", album_id)),
            ],
        )

    def name_album(self, ui: Ui, album_id: int) -> Window:
        def save() -> None:
            name = ui.text("name").strip()
            if not name:
                ui.say("An album needs a name")
            elif album_id:
                ui.facts.edit(ui.facts.get(Album, album_id), name=name)
            else:
                ui.facts.add(Album(name=name))

        title, done = ("Rename album", "Rename") if album_id else ("New album", "Create")
        return ui.dialog(title, [ui.field("name", "Album name")], {"Cancel": None, done: save})

    def delete_album(self, ui: Ui, album_id: int) -> Window:
        album = ui.facts.get(Album, album_id)

        def delete() -> None:
            for photo in ui.facts.where(Photo, lambda photo: album_id in photo.albums):
                rest = tuple(other for other in photo.albums if other != album_id)
                ui.facts.edit(photo, albums=rest)
            ui.facts.remove(album)

        text = f"The photos of “{album.name}” stay in the gallery."
        return ui.dialog("Delete album?", text, {"Cancel": None, "Delete": delete})

    # One photo ---------------------------------------------------------------------------------

    def photo(self, ui: Ui, photo_id: int) -> Window:
        photo = ui.facts.get(Photo, photo_id)
        if photo.trashed:
            raise MissingFact(f"{photo.title} is in the trash")
        like = IconButton(
            "heart_filled" if photo.favourite else "heart",
            "Remove from favourites" if photo.favourite else "Add to favourites",
            lambda: ui.facts.edit(photo, favourite=not photo.favourite),
            selected=photo.favourite,
        )
        deeds = [
            like,
            IconButton("folder", "Add to album", lambda: ui.go("choose_album", photo_id)),
            IconButton("info", "Details", lambda: ui.go("info", photo_id)),
            IconButton("trash", "Delete", lambda: ui.go("confirm_delete", photo_id)),
        ]
        return ui.page(
            photo.title,
            [
                Space(36),
                Picture(photo.picture, high=300, label="Photo"),
                Pad(_neighbours(ui, photo), top=16),
            ],
            actions=deeds if ui.version == 3 else (),
            foot=None if ui.version == 3 else Pad(Row(deeds, align="spread"), top=4, bottom=4),
        )

    def info(self, ui: Ui, photo_id: int) -> Window:
        photo = ui.facts.get(Photo, photo_id)
        names = [ui.facts.get(Album, album).name for album in photo.albums]
        when = f"{day_words(photo.taken.date(), year=True)}, "
        return ui.page(
            "Details",
            [
                Pad(Text(photo.title, "headline"), top=16),
                ListRow(
                    "Taken", when + clock(photo.taken, ui.settings.use_24_hour), icon="calendar"
                ),
                ListRow("Place", photo.place or "Unknown", icon="location"),
                ListRow("Albums", ", ".join(names) or "None", icon="folder"),
                ListRow("Favourite", "Yes" if photo.favourite else "No", icon="heart"),
            ],
        )

    def choose_album(self, ui: Ui, photo_id: int) -> Window:
        photo = ui.facts.get(Photo, photo_id)

        def put(album: Album) -> Handler:
            def into() -> None:
                if album.id not in photo.albums:
                    ui.facts.edit(photo, albums=(*photo.albums, album.id))
                ui.say(f"Added to {album.name}")

            return into

        return ui.sheet("Add to album", {a.name: put(a) for a in ui.facts.all(Album)})

    def confirm_delete(self, ui: Ui, photo_id: int) -> Window:
        photo = ui.facts.get(Photo, photo_id)

        def delete() -> None:
            ui.facts.edit(photo, trashed=True)
            ui.say("Moved to the trash")

        text = f"“{photo.title}” goes to the trash."
        return ui.dialog("Delete photo?", text, {"Cancel": None, "Delete": delete})

    # Trash -------------------------------------------------------------------------------------

    def trash(self, ui: Ui) -> Window:
        photos = ui.facts.where(Photo, lambda photo: photo.trashed)
        rows = [
            ListRow(
                p.title, day_words(p.taken.date()), picture=p.picture, on_tap=_go(ui, "trashed", p)
            )
            for p in photos
        ]
        return ui.page("Trash", rows or [Empty("The trash is empty", "trash")])

    def trashed(self, ui: Ui, photo_id: int) -> Window:
        photo = ui.facts.get(Photo, photo_id)
        return ui.sheet(
            photo.title,
            {
                "Restore": lambda: ui.facts.edit(photo, trashed=False),
                "Delete for good": lambda: ui.facts.remove(photo),
            },
        )


def _kept(ui: Ui) -> list[Photo]:
    """Return photos that are not in the trash, newest first."""
    kept = ui.facts.where(Photo, lambda photo: not photo.trashed)
    return sorted(kept, key=lambda photo: photo.taken, reverse=True)


def _go(ui: Ui, page: str, photo: Photo) -> Handler:
    return lambda: ui.go(page, photo.id)


def _photo_grid(ui: Ui, photos: Sequence[Photo]) -> Widget:
    """Return thumbnails with their titles below."""
    columns, high = (2, 110) if ui.version == 2 else (3, 84)
    tiles = [
        Column(
            [
                Picture(p.picture, high=high, label=p.title, on_tap=_go(ui, "photo", p)),
                Text(p.title, "tiny", "muted", max_lines=1, align="centre"),
            ],
            gap=2,
        )
        for p in photos
    ]
    return Pad(Grid(tiles, columns, 6), sides=8, top=4, bottom=4)


def _neighbours(ui: Ui, photo: Photo) -> Widget:
    """Return thumbnails of up to two photos before and after this one, to switch to."""
    kept = _kept(ui)
    here = kept.index(photo)
    near = [p for p in kept[max(0, here - 2) : here + 3] if p != photo]
    return Grid(
        [
            Picture(p.picture, high=52, label=f"Show {p.title}", on_tap=_swapper(ui, p))
            for p in near
        ],
        4,
        8,
    )


def _swapper(ui: Ui, photo: Photo) -> Handler:
    return lambda: ui.swap("photo", photo.id)
