"""An editor that talks to the language server in a process of its own."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from lsprotocol import types
from pygls.lsp.client import LanguageClient

from support.command import environment

PATIENCE = 30


class Editor:
    """What an editor does: it opens texts, types, asks."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.client = LanguageClient("editor", "1")
        self.published: list[types.PublishDiagnosticsParams] = []
        self.shown: list[str] = []
        self.logged: list[str] = []
        self.registered: list[types.Registration] = []
        self.version = 0
        self.open: set[str] = set()
        self.result: types.InitializeResult | None = None
        self._news = asyncio.Event()
        self._listen()

    def _listen(self) -> None:
        @self.client.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
        def published(params: types.PublishDiagnosticsParams) -> None:
            self.published.append(params)
            self._news.set()

        @self.client.feature(types.WINDOW_SHOW_MESSAGE)
        def shown(params: types.ShowMessageParams) -> None:
            self.shown.append(params.message)
            self._news.set()

        @self.client.feature(types.WINDOW_LOG_MESSAGE)
        def logged(params: types.LogMessageParams) -> None:
            self.logged.append(params.message)

        @self.client.feature(types.CLIENT_REGISTER_CAPABILITY)
        def registered(params: types.RegistrationParams) -> None:
            self.registered += params.registrations

    async def start(self, encodings: list[str] | None, *args: str) -> None:
        await self.client.start_io(
            sys.executable, *(args or ("-m", "prefixwise", "lsp")), cwd=self.folder, env=environment(self.folder)
        )
        await self._initialize(encodings)

    async def connect(self, port: int) -> None:
        """Connect to a server that has just been started."""
        async with asyncio.timeout(PATIENCE):
            while True:
                try:
                    await self.client.start_tcp("127.0.0.1", port)
                    break
                except OSError:
                    await asyncio.sleep(0.1)
        await self._initialize(None)

    async def _initialize(self, encodings: list[str] | None) -> None:
        capabilities = types.ClientCapabilities(
            general=types.GeneralClientCapabilities(position_encodings=encodings),
            workspace=types.WorkspaceClientCapabilities(
                did_change_watched_files=types.DidChangeWatchedFilesClientCapabilities(dynamic_registration=True),
                workspace_edit=types.WorkspaceEditClientCapabilities(document_changes=True),
            ),
        )
        uri = self.folder.as_uri()
        params = types.InitializeParams(capabilities, root_uri=uri, workspace_folders=[types.WorkspaceFolder(uri, "w")])
        self.result = await self.client.initialize_async(params)
        self.client.initialized(types.InitializedParams())

    def uri(self, name: str) -> str:
        return (self.folder / name).as_uri()

    def opens(self, name: str, text: str) -> None:
        self.version += 1
        self.open.add(name)
        item = types.TextDocumentItem(self.uri(name), "plaintext", self.version, text)
        self.client.text_document_did_open(types.DidOpenTextDocumentParams(item))

    def types(self, name: str, text: str) -> None:
        self.version += 1
        identifier = types.VersionedTextDocumentIdentifier(self.version, self.uri(name))
        change = types.TextDocumentContentChangeWholeDocument(text)
        self.client.text_document_did_change(types.DidChangeTextDocumentParams(identifier, [change]))

    def closes(self, name: str) -> None:
        identifier = types.TextDocumentIdentifier(self.uri(name))
        self.open.discard(name)
        self.client.text_document_did_close(types.DidCloseTextDocumentParams(identifier))

    def reconfigures(self) -> None:
        """Say that a configuration file has changed."""
        event = types.FileEvent(self.uri("prefixwise.toml"), types.FileChangeType.Changed)
        self.client.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams([event]))

    async def until(self, holds: Callable[[], Any]) -> Any:
        """Wait until something holds, and return it."""
        async with asyncio.timeout(PATIENCE):
            while not (found := holds()):
                self._news.clear()
                await self._news.wait()
        return found

    async def diagnostics(self, name: str) -> list[types.Diagnostic]:
        """Return what is shown of the newest state of a text."""
        version, uri = self.version, self.uri(name)
        found = await self.until(lambda: [one for one in self.published if one.uri == uri and one.version == version])
        return list(found[-1].diagnostics)

    async def actions(self, name: str, diagnostic: types.Diagnostic) -> list[types.CodeAction]:
        context = types.CodeActionContext([diagnostic])
        params = types.CodeActionParams(types.TextDocumentIdentifier(self.uri(name)), diagnostic.range, context)
        return list(await self.client.text_document_code_action_async(params) or ())

    async def hints(self, name: str) -> list[types.InlayHint]:
        whole = types.Range(types.Position(0, 0), types.Position(100_000, 0))
        params = types.InlayHintParams(types.TextDocumentIdentifier(self.uri(name)), whole)
        return list(await self.client.text_document_inlay_hint_async(params) or ())

    async def hover(self, name: str, line: int, character: int) -> str:
        place = types.Position(line, character)
        params = types.HoverParams(types.TextDocumentIdentifier(self.uri(name)), place)
        found = await self.client.text_document_hover_async(params)
        return "" if found is None else found.contents.value


@asynccontextmanager
async def editor(folder: Path, encodings: list[str] | None = None, *args: str) -> AsyncIterator[Editor]:
    """Start an editor on a folder; its server has to end well."""
    one = Editor(folder)
    await one.start(encodings, *args)
    yield one
    assert one.logged == []
    async with asyncio.timeout(PATIENCE):
        await one.client.shutdown_async(None)
        one.client.exit(None)
        assert await one.client._server.wait() == 0
        await one.client.stop()


def edited(text: str, action: types.CodeAction, uri: str) -> str:
    """Return a text with an action's edits, whose places are counted in UTF-16."""
    assert action.edit is not None
    (change,) = action.edit.document_changes
    assert change.text_document.uri == uri
    lines = [*text.splitlines(keepends=True), ""]
    starts = [sum(len(line.encode("utf-16-le")) for line in lines[:number]) for number in range(len(lines))]
    data = text.encode("utf-16-le")
    places = [
        (*(starts[end.line] + 2 * end.character for end in (e.range.start, e.range.end)), e) for e in change.edits
    ]
    for start, end, edit in sorted(places, key=lambda place: place[:2], reverse=True):
        data = data[:start] + edit.new_text.encode("utf-16-le") + data[end:]
    return data.decode("utf-16-le")
