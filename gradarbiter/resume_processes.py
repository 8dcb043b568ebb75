"""exact_resume by command, for a run in any language: fresh processes, JSON lines of losses, files of weights; careful to run the same twice first.

The command is a template: {steps} is how many steps the run has, {save} the folder it saves to when it ends, {resume} the folder that it goes on from,
{log} its file of JSON lines. What stands in [brackets] is left out where its placeholder has no value:

    cargo run --release -- --steps {steps} --save {save} [--resume {resume}] --log {log}

Where the learning rate depends on the number of steps, the first half must know all of them: then {steps} is always all, and [--stop {stop}] ends it early.
A command without {resume} is one that goes on from what it finds in {save}. A line of the log is {"step": 3, "loss_bits": "3f8ccccd"}, or with "loss_hex"
(C99) or a number as "loss"; other lines, and lines whose "event" is not "step", are passed over.
"""

from __future__ import annotations

import hashlib
import json
import re
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from gradarbiter import runs
from gradarbiter.result import Finding, NotAsked, Result
from gradarbiter.runs import accusation, note

Losses = Mapping[int, str]  # step -> its bits, as text


def exact_resume_of_command(
    command: str, *, log: str = "", before: int = 3, after: int = 6, flips: int = 0, timeout: float = 3600, say: runs.Say = runs.say
) -> Result:
    """Ask a command (see the module): four processes, and one for each of ``flips``, each a bit of one saved file. ``timeout`` in seconds, each.

    Raises:
        ValueError: the template lacks what is needed.
    """
    missing = [word for word in ("{steps}", "{save}", *([] if log else ["{log}"])) if word not in command]
    if missing or after < 5 or before < 2:
        found = f"found:   {command!r}, {before} steps before the resume and {after} after it"
        raise ValueError(f"{found}\nwanted:  {' '.join(missing) or 'at least 2 and 5 steps'}\ndo this: give the command as a template")
    with tempfile.TemporaryDirectory() as folder:
        asked = Asked(command, log, Path(folder), before, after, timeout)
        return runs.answered("exact_resume", lambda: asked.ask(flips, say))


class Asked:
    def __init__(self, command: str, log: str, root: Path, before: int, after: int, timeout: float) -> None:
        self.command, self.log, self.root, self.timeout = command, log, root, timeout
        self.before, self.steps = before, before + after

    def ask(self, flips: int, say: runs.Say) -> Iterator[Finding]:
        after = self.steps - self.before
        say(
            f"exact_resume: {4 + flips} processes, {2 * self.steps + self.before + after * (1 + flips)} steps together, and their saves in {self.root}"
        )
        whole, again = self.run("whole"), self.run("again")
        order = sorted(whole)
        if len(order) < self.steps:
            raise NotAsked(
                f"the log has {len(order)} losses of {self.steps} steps: write one line a step with step and loss_bits, loss_hex or loss"
            )
        if different := [step for step in order if again.get(step) != whole[step]]:
            raise NotAsked(
                f"not deterministic: two runs without a resume differ at step {different[0]} already: seed it, use deterministic kernels"
            )
        kept = {name for name, content in tensors(self.root / "whole").items() if tensors(self.root / "again").get(name) == content}
        half = self.run("half", stop=self.before)
        if different := [step for step in half if half[step] != whole.get(step)]:
            why = "its schedule depends on the number of steps: give {steps} and [--stop {stop}]"
            raise NotAsked(f"the first half differs from the whole run at step {different[0]}, before anything was resumed: {why}")
        found = self.run("rest", resume=self.copy("half"))
        yield from self.compared(found, whole, [step for step in order if step not in half], kept)
        for i in range(flips):
            yield from self.flipped(i, whole, kept)

    def compared(self, found: Losses, whole: Losses, rest: list[int], kept: set[str]) -> Iterator[Finding]:
        if min(found, default=rest[0]) < rest[0]:
            text = f"the resumed process logs step {min(found)} again: the save has {self.before} steps"
            yield accusation("not resumed" if min(found) == min(whole) else "resumed early", f"step {min(found)}", text)
            return
        different = [step for step in rest if found.get(step) != whole[step]]
        if different:
            first = "the first loss after the resume is right to the bit; " if different[0] != rest[0] else ""
            numbers = f"{found.get(different[0], 'nothing')} where the run that was not stopped has {whole[different[0]]}"
            text = f"{first}step {different[0]} is the first that differs: {numbers}"
            yield accusation("another loss", f"step {different[0]}", text, step=different[0])
        one, other = tensors(self.root / "whole"), tensors(self.root / "rest")
        if not kept:
            yield note(
                "not asked", "state", "no file that two equal runs write alike was found in {save}: losses are compared, the state is not"
            )
        wrong = sorted(name for name in kept if other.get(name) != one[name])
        exact, loose = [n for n in wrong if ".safetensors/" in n], [n for n in wrong if ".safetensors/" not in n]
        if exact:
            yield accusation(
                "another state",
                exact[0],
                f"{len(exact)} saved tensors of the resumed run differ from the uninterrupted one's",
                tensors=len(exact),
            )
        if loose:
            yield note("other files", loose[0], f"{len(loose)} files that are no safetensors differ from the uninterrupted run's")

    def flipped(self, i: int, whole: Losses, kept: set[str]) -> Iterator[Finding]:
        from gradarbiter.runs.exact_resume import flip

        saved = self.copy("half")
        newest = _newest(saved)
        path = newest[sorted(newest)[i % len(newest)]]
        at = flip(path, i // len(newest))
        where = f"{path.relative_to(saved)}, byte {at}"
        try:
            found = self.run(f"flip{i}", resume=saved)
        except NotAsked:  # it ended with a status: refused
            return
        one, other = tensors(self.root / "whole"), tensors(self.root / f"flip{i}")
        exact = [name for name in kept if ".safetensors/" in name]
        same = all(whole.get(step) == bits for step, bits in found.items()) and all(other.get(name) == one[name] for name in exact)
        if not same or not found:
            yield accusation(
                "damage read", where, "one flipped bit was loaded without a word, and the run went on with other numbers", byte=at
            )
        elif min(found) == min(whole):
            yield note("started again", where, f"after one flipped bit the run began again at step {min(found)}")

    def run(self, name: str, *, stop: int = 0, resume: Path | None = None) -> Losses:
        """Losses of one process. Raises NotAsked with the end of what it wrote, if it fails."""
        save = self.root / name
        if resume and "{resume}" not in self.command:
            shutil.copytree(resume, save)
        save.mkdir(exist_ok=True)
        log = save / self.log if self.log else self.root / f"{name}.jsonl"
        log.unlink(missing_ok=True)  # copied with the save: a run that appends to its log would seem to have done the first half again
        early = stop and "{stop}" not in self.command
        values = {
            "steps": str(stop if early else self.steps),
            "stop": str(stop or ""),
            "save": str(save),
            "log": str(log),
            "resume": str(resume or ""),
        }
        done = subprocess.run(words(self.command, values), capture_output=True, text=True, timeout=self.timeout, check=False)
        found = losses(log)
        # A process that was told to stop may say so by its status (130: interrupted and saved).
        if done.returncode and not (stop and len(found) >= stop):
            last = " | ".join((done.stderr or done.stdout).strip().splitlines()[-3:])
            raise NotAsked(f"{shlex.join(words(self.command, values))} ended with status {done.returncode}: {last}")
        return found

    def copy(self, name: str) -> Path:
        target = Path(tempfile.mkdtemp(dir=self.root)) / "saved"
        shutil.copytree(self.root / name, target)
        return target


def words(command: str, values: Mapping[str, str]) -> list[str]:
    """The template's words. Split before the values are put in: a path may hold a space."""

    def kept(match: re.Match[str]) -> str:
        return match[1] if all(values.get(name) for name in re.findall(r"\{(\w+)\}", match[1])) else ""

    split = shlex.split(re.sub(r"\[([^\]]*)\]", kept, command))
    return [re.sub(r"\{(\w+)\}", lambda match: values.get(match[1], match[0]), word) for word in split]


def losses(path: Path) -> Losses:
    """Step -> bits. A step that is there twice counts as it was last written."""
    found: dict[int, str] = {}
    for text in path.read_text(encoding="utf-8").splitlines() if path.exists() else []:
        try:
            line = json.loads(text)
        except json.JSONDecodeError:  # the last line of a process that was killed
            continue
        bits = next((line[key] for key in ("loss_bits", "loss_hex", "loss") if key in line), None) if isinstance(line, dict) else None
        if bits is not None and "step" in line and line.get("event", "step") == "step":
            found[int(line["step"])] = bits if isinstance(bits, str) else float(bits).hex()
    return found


def tensors(folder: Path) -> dict[str, str]:
    """File and tensor -> SHA-256 of its type, shape and bytes; of other files -> SHA-256 of all. Of files of one name the newest."""
    found = {}
    for name, path in _newest(folder).items():
        content = path.read_bytes()
        if path.suffix != ".safetensors":
            found[name] = hashlib.sha256(content).hexdigest()
            continue
        size = int.from_bytes(content[:8], "little")
        header = json.loads(content[8 : 8 + size])
        for tensor, facts in header.items():
            if tensor == "__metadata__":
                continue
            start, end = facts["data_offsets"]
            data = content[8 + size + start : 8 + size + end]
            found[f"{name}/{tensor}"] = hashlib.sha256(f"{facts['dtype']}{facts['shape']}".encode() + data).hexdigest()
    return found


def _newest(folder: Path) -> dict[str, Path]:
    """Of several saves in one folder the one that was written last."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    return {path.name: path for path in sorted(files, key=lambda path: (path.stat().st_mtime_ns, str(path)))}
