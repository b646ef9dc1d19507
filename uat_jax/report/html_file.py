"""One HTML file that needs nothing else: what stands around the head and the body of every page that is written."""

from __future__ import annotations

from html import escape

POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'"
"""What a browser may load: nothing but what stands in the file, whatever its texts say."""


def html_file(title: str, head: str, body: str, *, name: str = "") -> str:
    """A whole HTML document.

    Args:
        title: a text.
        head: HTML that follows the title, such as styles.
        body: HTML of the body.
        name: the class of the body, if it has one.

    Returns:
        The text of the file, which loads nothing from elsewhere.
    """
    named = f' class="{escape(name)}"' if name else ""
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n{head}</head>\n<body{named}>\n{body}\n</body>\n</html>\n"
    )
