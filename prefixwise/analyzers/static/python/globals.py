"""What names at the top of modules stand for, in this module or another of the package."""

from __future__ import annotations

from collections.abc import Iterator

from prefixwise.analyzers.static.python.frames import Frame, Global, Submodule, World
from prefixwise.analyzers.static.python.modules import Class, Function, Module
from prefixwise.analyzers.static.python.values import UNKNOWN, Value, unknown
from prefixwise.analyzers.static.volatile import Frequency


def global_value(world: World, module: Module, name: str) -> Value | None:
    """Return what a name at the top of a module stands for, None where it stands for nothing."""
    frame = module_frame(world, module)
    value = frame.env.get(name)
    if value is None and name in module.functions:
        value = Value(ref=module.functions[name])
    if value is None and name in module.classes:
        value = Value(ref=module.classes[name])
    if value is None:
        for other in frame.stars:
            value = global_value(world, other, name) if other is not module else None
            if value is not None:
                break
    return resolved(world, value) if value is not None else None


def resolved(world: World, value: Value) -> Value:
    """Return what a name of another module stands for."""
    ref = value.ref
    if not isinstance(ref, Global):
        return value
    if ref in world.busy:
        return UNKNOWN
    world.busy.add(ref)
    try:
        module = world.package.module(ref.path)
        found = _defined(world, module, ref.name) if module is not None else None
    finally:
        world.busy.discard(ref)
    return found if found is not None else unknown(ref.name, fixed=True)


def _defined(world: World, module: Module, name: str) -> Value | None:
    """Return the same without a look at the body of the module, where it defines a function or class."""
    if name in module.functions:
        return Value(ref=module.functions[name])
    return Value(ref=module.classes[name]) if name in module.classes else global_value(world, module, name)


def submodule_value(world: World, path: str, name: str) -> Value | None:
    """Return what a name at the top of the module at `path` stands for, None where it stands for nothing."""
    module = world.package.module(path)
    return _defined(world, module, name) if module is not None else None


def module_frame(world: World, module: Module) -> Frame:
    """Return the frame of a module, its body looked at."""
    if module.path not in world.modules:
        frame = Frame(world, module, cap=Frequency.PROCESS)
        world.modules[module.path] = frame
        frame.run(module.tree.body)
    return world.modules[module.path]


def lineage(world: World, owner: Class) -> Iterator[Class | None]:
    """Go through a class and its bases; None for a base that is not of the package."""
    seen: list[Class] = []
    queue: list[Class | None] = [owner]
    while queue:
        current = queue.pop(0)
        yield current
        if current is None or current in seen or len(seen) > 10:
            continue
        seen.append(current)
        queue += [class_named(world, current.module, base) for base in current.bases if base != "object"]


def class_named(world: World, module: Module, path: str) -> Class | None:
    """Return the class of the package that a dotted name in a module stands for."""
    first, _, rest = path.partition(".")
    value = _defined(world, module, first)
    for name in filter(None, rest.split(".")):
        ref = value.ref if value is not None else None
        value = submodule_value(world, ref.path, name) if isinstance(ref, Submodule) else None
    return value.ref if value is not None and isinstance(value.ref, Class) else None


def find_method(world: World, owner: Class, name: str) -> Function | None:
    """Return a method of a class or its bases."""
    for current in lineage(world, owner):
        if current is not None and name in current.methods:
            return current.methods[name]
    return None
