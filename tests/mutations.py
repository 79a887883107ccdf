"""Damage to model files, by accident and on purpose."""

from __future__ import annotations


def damage(document, random) -> None:
    """Change one thing somewhere inside."""
    at = document
    while True:
        keys = list(at) if isinstance(at, dict) else list(range(len(at)))
        if not keys:
            return
        key = keys[random.integers(len(keys))]
        if isinstance(at[key], (dict, list)) and at[key] and random.random() < 0.85:
            at = at[key]
            continue
        break
    value = at[key]
    odd = [
        None,
        True,
        -1,
        0,
        1,
        2**40,
        -(2**62),
        0.5,
        1e300,
        -1e300,
        "nan",
        "inf",
        "x" * 50,
        [],
        {},
        [[1]],
        "<08",
        {"dict": 3},
    ]
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    choice = random.integers(4)
    if choice == 0 and number:
        at[key] = value + [1, -1, 0.1, 1000][random.integers(4)]
    elif choice == 1:
        del at[key]
    else:
        at[key] = odd[random.integers(len(odd))]


def damage_bytes(content, random):
    """Some bytes less, more, or others."""
    content, at = bytearray(content), int(random.integers(len(content)))
    length = int(random.choice([1, 1, 8, 300]))
    match int(random.integers(6)):
        case 0:
            del content[at:]
        case 1:
            content[at] ^= 1 << int(random.integers(8))
        case 2:
            del content[at : at + length]
        case 3:
            content[at:at] = random.bytes(length)
        case 4:
            content[at : at + length] = random.bytes(len(content[at : at + length]))
        case 5:
            other = int(random.integers(len(content)))
            content[at:at] = content[other : other + length]
    return bytes(content)
