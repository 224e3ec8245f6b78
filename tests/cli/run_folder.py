"""Compares run folders: two runs are equal if all files are, except for dates and times. Edits them as an attacker could."""

import ctypes
import ctypes.util
import json
import pathlib
import re
import subprocess

DATE = re.compile(rb"\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d( UTC|Z)?")
SECONDS = re.compile(rb'("?seconds_\w+"?\s*[:=]\s*)[-+.e\d]+')


def without_times(path):
    """The content of a file, without what differs between two equal runs."""
    if path.suffix == ".nc":
        text = subprocess.run(["ncdump", "-n", "run", path], capture_output=True, check=True).stdout
        lines = [line for line in text.split(b"\n") if b"sampling_time" not in line and b"_time = " not in line]
        return DATE.sub(b"DATE", b"\n".join(lines))
    content = path.read_bytes()
    if path.name.startswith("chain-"):
        lines = [line for line in content.split(b"\n") if b"seconds (" not in line]
        return DATE.sub(b"DATE", b"\n".join(lines))
    if path.name in ("manifest.json", "summary.json"):
        told = json.loads(content)
        told.pop("created", None)
        told.pop("checksum", None)  # of the date, too
        for key in ("seconds_warmup", "seconds_sampling"):
            told.get("diagnostics", {}).pop(key, None)
        return json.dumps(told).encode()
    if path.name == "report.html":
        return SECONDS.sub(rb"\1S", DATE.sub(b"DATE", content))
    return content


def is_result(path):
    """Checkpoints hold seconds, and are for resuming only; checksums depend on dates."""
    return not path.name.startswith("checkpoint-") and path.suffix not in (".tmp", ".xxh")


def files_of(run):
    return {path.name: path for path in pathlib.Path(run).iterdir() if is_result(path)}


def differences(run, other):
    """The names of files that are in one folder only, or differ."""
    ours, theirs = files_of(run), files_of(other)
    names = sorted(ours.keys() | theirs.keys())
    return [
        name
        for name in names
        if name not in ours or name not in theirs or without_times(ours[name]) != without_times(theirs[name])
    ]


class Hash128(ctypes.Structure):
    _fields_ = (("low", ctypes.c_uint64), ("high", ctypes.c_uint64))


def content_hash(content):
    """The hash that rehmc uses, by its library's C function."""
    library = ctypes.CDLL(ctypes.util.find_library("xxhash"))
    library.XXH3_128bits.restype = Hash128
    library.XXH3_128bits.argtypes = (ctypes.c_char_p, ctypes.c_size_t)
    found = library.XXH3_128bits(content, len(content))
    return f"{found.high:016x}{found.low:016x}"


def edit_manifest(run, change):
    """Changes the manifest and gives it a checksum that fits, as an attacker would."""
    path = pathlib.Path(run, "manifest.json")
    told = json.loads(path.read_text(encoding="utf-8"))
    told.pop("checksum")
    change(told)
    text = json.dumps(told, separators=(",", ":"), ensure_ascii=False)
    told["checksum"] = content_hash(text.encode())
    path.write_text(json.dumps(told, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
