"""The attributes of an operation in a Rust bundle, and the stand-in for `serde_json` that reads them; careful to hold no more of it than the function calls."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from harness.repro import literals

# What a run file calls on an attribute -> the kind it is of, what it gives, and how.
READERS = {
    "as_u64": ("Number", "u64", "*it as u64"),
    "as_i64": ("Number", "i64", "*it as i64"),
    "as_f64": ("Number", "f64", "*it"),
    "as_bool": ("Bool", "bool", "*it"),
    "as_str": ("Text", "&str", "it"),
    "as_array": ("List", "&Vec<Value>", "it"),
}
# What a run file compares an attribute with: the sign that it does -> a type, the kind it is of, and how.
COMPARED = {
    r'[!=]= "': ("&str", "Text", "it == other"),
    r"[!=]= (true|false)\b": ("bool", "Bool", "it == other"),
}


def of(text: str, attributes: Mapping[str, Any] | None) -> dict[str, Any]:
    """What the templates are told: ``text`` is all that reads ``attributes``, which are none of an ordinary case."""
    needed = {name for name in READERS if name in text or (name == "as_array" and "][" in text)}
    return {
        "attributes": None if attributes is None else {k: value(v) for k, v in attributes.items()},
        "readers": [(name, *READERS[name]) for name in READERS if name in needed],
        "compared": [COMPARED[sign] for sign in COMPARED if re.search(sign, text)],
        "made": bool(re.search(r"contains\(&\w+\.into\(\)\)", text)),
        "indexed": bool(re.search(r"\w\[\d\]\.as_|cut\[", text)),
    }


def value(of: Any) -> str:
    """One attribute as Rust."""
    if of is None:
        return "Value::Null"
    if isinstance(of, bool):
        return f"Value::Bool({str(of).lower()})"
    if isinstance(of, int | float):
        return f"Value::Number({literals.rust(float(of))})"
    if isinstance(of, str):
        return f'Value::Text("{of}".to_string())'
    return f"Value::List(vec![{', '.join(value(v) for v in of)}])"
