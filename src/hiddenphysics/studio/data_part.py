"""The part of the page where a file comes in and its snapshots are seen."""

from __future__ import annotations

from collections.abc import Collection
from html import escape

from nicegui import events, run, ui

from hiddenphysics.studio.data_file import LARGEST
from hiddenphysics.studio.guard import too_large
from hiddenphysics.studio.page_pieces import Part, picture, section, sentence
from hiddenphysics.studio.session import Session

LEAVE_OUT = "missing='drop') to leave out"
"""What a sentence about NaN advises; a button does it."""


def data_part(session: Session) -> Part:
    """Build the part."""

    async def take(dropped: events.UploadEventArguments) -> None:
        content = await dropped.file.read()
        await run.io_bound(session.take, dropped.file.name, content)
        upload.reset()

    async def take_demo() -> None:
        demo.disable()
        await run.io_bound(session.take_demo)
        demo.enable()

    async def drop_missing() -> None:
        if session.asked is not None:
            await run.io_bound(session.read, *session.asked, "drop")

    async def match() -> None:
        if (columns.value or "") != session.words.columns:
            await run.io_bound(session.match, columns.value or "")

    with section("data", "Data"):
        upload = ui.upload(
            label="Drop a file here, or choose one with +",
            auto_upload=True,
            max_file_size=LARGEST,
            on_upload=take,
            on_rejected=lambda: session.refuse_data(too_large(LARGEST)),
        ).props('flat bordered aria-label="file"')
        demo = ui.button("Take the demo's 140 points", on_click=take_demo).props("flat no-caps id=demo")

        columns = (
            ui.input(
                "columns by hand", value=session.words.columns, placeholder="x = position, u = temperature"
            )
            .props("outlined dense stack-label")
            .on("blur", match)
            .on("keydown.enter", match)
        )

        @ui.refreshable
        def shown() -> None:
            sentence(session.data_sentence, "data-sentence")
            if LEAVE_OUT in session.data_sentence:
                ui.button("Leave those points out", on_click=drop_missing).props("flat no-caps")
            data = session.data
            if data is None:
                ui.html(
                    "<p class=hint>A table with columns t, x and u, or .npz, .mat, netCDF: "
                    f"up to {LARGEST // 1_000_000} MB. Nothing leaves this machine.</p>",
                    sanitize=False,
                )
                return
            roles = "".join(f"<li><b>{escape(name)}</b> {escape(role)}</li>" for name, role in data.roles())
            ui.html(
                f'<p id="data-name"><b>{escape(data.name)}</b></p><ul class=roles>{roles}</ul>',
                sanitize=False,
            )
            picture(data.picture, f"The snapshots in {data.name}")
            ui.html(f"<p class=hint>{escape(data.snapshots.describe())}</p>", sanitize=False)

        shown()

    def tick(changed: Collection[str]) -> None:
        if "data" in changed:
            shown.refresh()
        if "words" in changed and columns.value != session.words.columns:
            columns.value = session.words.columns

    return Part(tick)
