"""Pieces of HTML that show names of any kind, and nothing else."""

from __future__ import annotations

from html.parser import HTMLParser


class Tags(HTMLParser):
    """Notes which tags occur, and that each is closed in order."""

    def __init__(self, html):
        super().__init__()
        self.open, self.names, self.attributes = [], set(), set()
        self.feed(html)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.names.add(tag)
        self.attributes |= {name for name, _ in attrs}
        if tag != "br":
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def assert_safe(html):
    tags = Tags(html)
    assert tags.names <= {"div", "b", "ol", "ul", "li", "br", "span", "bdi", "details", "summary"}
    assert tags.attributes <= {"style", "open"}
