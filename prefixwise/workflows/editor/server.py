"""The language server: findings while typing, fixes, ignores, rule pages, and where a prompt stops being stable.

Texts are taken from the editor and linted as they are, one after the other in a thread of its own; nothing in a
workspace is run. What is asked about a text is answered from the newest state of it.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from lsprotocol import types
from pygls import uris
from pygls.lsp.server import LanguageServer

from prefixwise import __version__
from prefixwise.core.config.files import OWN_NAME, SHARED_NAME
from prefixwise.core.errors import UserError
from prefixwise.core.finding import Finding
from prefixwise.workflows.editor import answers
from prefixwise.workflows.editor.ignoring import ignoring
from prefixwise.workflows.editor.looking import Look, Looking, named
from prefixwise.workflows.editor.positions import Position, Positions, Unit

PAUSE = 0.25
"""Seconds without typing after which a text is linted."""
_MOST_IGNORES = 4
"""Findings of one place for which a comment is looked for."""
_CONFIGURATIONS = (OWN_NAME, SHARED_NAME)
_T = TypeVar("_T")


class _Open:
    """A text that is open in the editor.

    Attributes:
        path: Its file.
        version, text: Its newest state.
        look: What was said of its state `looked`; None where nothing has been said yet.
        task: What looks at it next.
    """

    def __init__(self, path: str, version: int, text: str) -> None:
        self.path = path
        self.version = version
        self.text = text
        self.look: Look | None = None
        self.looked: int | None = None
        self.task: asyncio.Task[None] | None = None


class EditorServer(LanguageServer):
    """Keeps the open texts, and what is said of them."""

    def __init__(self) -> None:
        # Whole texts: a change of a part would have to count lines as the library does, which also parts at U+2028.
        super().__init__("prefixwise", __version__, types.TextDocumentSyncKind.Full)
        self._open: dict[str, _Open] = {}
        self._worker = ThreadPoolExecutor(1, "lint")
        self._looking: Looking | None = None
        self._complained = ""

    @property
    def unit(self) -> Unit:
        """What characters of a line are counted in, as agreed on with the editor."""
        agreed = self.server_capabilities.position_encoding
        return Unit.UTF_16 if agreed is None else Unit(getattr(agreed, "value", agreed))

    def positions(self, text: str) -> Positions:
        """Return the places of a text as the editor has them."""
        return Positions(text, self.unit)

    def enter(self, root: str | None) -> None:
        """Make a workspace's root the working folder, as it would be that of the command."""
        if root is not None:
            with contextlib.suppress(OSError):
                os.chdir(root)

    def opened(self, uri: str, version: int, text: str) -> None:
        """Take a text in, or its next state."""
        path = uris.to_fs_path(uri) if uri.startswith("file:") else None
        if path is None:
            return
        known = self._open.get(uri)
        if known is None:
            known = self._open[uri] = _Open(path, version, text)
        known.version, known.text = version, text
        self._schedule(uri, known, 0 if known.look is None else PAUSE)

    def closed(self, uri: str) -> None:
        """Forget a text and what was said of it."""
        known = self._open.pop(uri, None)
        if known is not None:
            if known.task is not None:
                known.task.cancel()
            self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, []))

    def reconfigured(self) -> None:
        """Read the configuration again, and look at all texts."""
        self._looking = None
        self._complained = ""
        for uri, known in self._open.items():
            known.looked = None
            self._schedule(uri, known, PAUSE)

    async def current(self, uri: str) -> tuple[_Open, Look] | None:
        """Return a text with what there is to say of its newest state; None where it is closed or changes meanwhile."""
        known = self._open.get(uri)
        if known is None:
            return None
        if known.looked != known.version:
            version = known.version
            self._schedule(uri, known, 0)
            if known.task is not None:
                await asyncio.wait([known.task])
            if known.looked != version or known.version != version or self._open.get(uri) is not known:
                return None
        return None if known.look is None else (known, known.look)

    async def in_worker(self, work: Callable[[], _T]) -> _T:
        """Return the result of what is computed in the thread that lints."""
        return await asyncio.get_running_loop().run_in_executor(self._worker, work)

    def looking(self) -> Looking:
        """Return what lints under the configuration of now. Raises UserError where that is wrong."""
        if self._looking is None:
            self._looking = Looking()
        return self._looking

    def _schedule(self, uri: str, known: _Open, pause: float) -> None:
        if known.task is not None:
            known.task.cancel()
        known.task = asyncio.get_running_loop().create_task(self._refresh(uri, known, pause))

    async def _refresh(self, uri: str, known: _Open, pause: float) -> None:
        """Lint a text and show what was found, unless it has changed by then."""
        await asyncio.sleep(pause)
        version, text = known.version, known.text
        try:
            look = await self.in_worker(lambda: self.looking().look(known.path, text))
        except UserError as problem:
            self._complain(str(problem), problem.help)
            look = Look(text)
        except Exception as problem:
            what = f"internal error on {named(known.path)}, please report it: {type(problem).__name__}: {problem}"
            self.window_log_message(types.LogMessageParams(types.MessageType.Error, what[:1000]))
            look = Look(text)
        if known.version != version or self._open.get(uri) is not known:
            return
        known.look, known.looked = look, version
        found = answers.diagnostics(look, self.positions(text))
        self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, found, version))
        await self._refresh_hints()

    async def _refresh_hints(self) -> None:
        """Have the editor ask for hints again: it asked before the text was read."""
        workspace = self.client_capabilities.workspace
        if workspace is not None and workspace.inlay_hint is not None and workspace.inlay_hint.refresh_support:
            self.workspace_inlay_hint_refresh(None)

    def _complain(self, what: str, help: str) -> None:
        """Tell the user what is wrong with the configuration, once."""
        message = f"prefixwise: {what}{f' ({help})' if help else ''}"
        if message != self._complained:
            self._complained = message
            self.window_show_message(types.ShowMessageParams(types.MessageType.Error, message))


def make_server() -> EditorServer:
    """Return a language server that is ready to be started."""
    server = EditorServer()
    _follow_texts(server)
    _follow_configuration(server)
    _answer(server)
    return server


def _follow_texts(server: EditorServer) -> None:
    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    async def opened(params: types.DidOpenTextDocumentParams) -> None:
        document = params.text_document
        server.opened(document.uri, document.version, document.text)

    @server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    async def changed(params: types.DidChangeTextDocumentParams) -> None:
        document = params.text_document
        server.opened(document.uri, document.version, server.workspace.get_text_document(document.uri).source)

    @server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    async def closed(params: types.DidCloseTextDocumentParams) -> None:
        server.closed(params.text_document.uri)


def _follow_configuration(server: EditorServer) -> None:
    @server.feature(types.INITIALIZE)
    def initialize(params: types.InitializeParams) -> None:
        folders = params.workspace_folders or []
        uri = folders[0].uri if folders else params.root_uri
        server.enter(uris.to_fs_path(uri) if uri else params.root_path)

    @server.feature(types.INITIALIZED)
    async def initialized(_: types.InitializedParams) -> None:
        workspace = server.client_capabilities.workspace
        watched = None if workspace is None else workspace.did_change_watched_files
        if watched is not None and watched.dynamic_registration:
            watchers = [types.FileSystemWatcher(f"**/{name}") for name in _CONFIGURATIONS]
            options = types.DidChangeWatchedFilesRegistrationOptions(watchers)
            method = types.WORKSPACE_DID_CHANGE_WATCHED_FILES
            registration = types.Registration("prefixwise-configuration", method, options)
            server.client_register_capability(types.RegistrationParams([registration]))

    @server.feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    async def watched(_: types.DidChangeWatchedFilesParams) -> None:
        server.reconfigured()

    @server.feature(types.WORKSPACE_DID_CHANGE_CONFIGURATION)
    async def configured(_: types.DidChangeConfigurationParams) -> None:
        server.reconfigured()

    @server.feature(types.TEXT_DOCUMENT_DID_SAVE)
    async def saved(params: types.DidSaveTextDocumentParams) -> None:
        if Path(uris.to_fs_path(params.text_document.uri) or "").name in _CONFIGURATIONS:
            server.reconfigured()


def _answer(server: EditorServer) -> None:
    kinds = types.CodeActionOptions(code_action_kinds=[types.CodeActionKind.QuickFix])

    @server.feature(types.TEXT_DOCUMENT_CODE_ACTION, kinds)
    async def actions(params: types.CodeActionParams) -> list[types.CodeAction]:
        wanted = params.context.only
        if wanted is not None and not any(types.CodeActionKind.QuickFix.value.startswith(one) for one in wanted):
            return []
        return await _actions(server, params)

    @server.feature(types.TEXT_DOCUMENT_HOVER)
    async def hover(params: types.HoverParams) -> types.Hover | None:
        current = await server.current(params.text_document.uri)
        if current is None:
            return None
        positions = server.positions(current[1].text)
        offset = positions.offset(Position(params.position.line, params.position.character))
        return answers.hover(answers.touched(current[1], offset, offset), positions)

    @server.feature(types.TEXT_DOCUMENT_INLAY_HINT)
    async def hints(params: types.InlayHintParams) -> list[types.InlayHint]:
        current = await server.current(params.text_document.uri)
        if current is None:
            return []
        positions = server.positions(current[1].text)
        return list(answers.hints(current[1], positions, *answers.offsets(params.range, positions)))


async def _actions(server: EditorServer, params: types.CodeActionParams) -> list[types.CodeAction]:
    current = await server.current(params.text_document.uri)
    if current is None:
        return []
    known, look = current
    positions = server.positions(look.text)
    here = answers.touched(look, *answers.offsets(params.range, positions))
    document = _document(server, params.text_document.uri, known.version)
    found = [action for one in here if (action := answers.fix_action(one, positions, document)) is not None]

    def findings(text: str) -> tuple[Finding, ...]:
        return server.looking().look(known.path, text).findings

    for finding in here[:_MOST_IGNORES]:
        insertion = await server.in_worker(partial(ignoring, finding, known.path, look.text, look.syntax, findings))
        if insertion is not None:
            found.append(answers.ignore_action(finding, insertion, positions, document))
    return found


def _document(server: EditorServer, uri: str, version: int) -> types.OptionalVersionedTextDocumentIdentifier:
    """Return a document to be edited, with its version where the editor can tell versions apart."""
    workspace: Any = server.client_capabilities.workspace
    edits = None if workspace is None else workspace.workspace_edit
    versions = edits is not None and edits.document_changes
    return types.OptionalVersionedTextDocumentIdentifier(uri, version if versions else None)
