"""What the commands and environments of LaTeX are to a reader of numbers."""

from __future__ import annotations

HEADINGS = {
    "part": 0,
    "chapter": 0,
    "section": 1,
    "subsection": 2,
    "subsubsection": 3,
    "paragraph": 4,
    "subparagraph": 5,
}

ASIDE = {
    **dict.fromkeys(("label", "ref", "eqref", "pageref", "autoref", "cref", "Cref", "vref", "nameref"), "reference"),
    **dict.fromkeys(
        ("crefrange", "Crefrange", "footref", "tag", "input", "include", "hyperlink", "hypertarget"), "reference"
    ),
    **dict.fromkeys(
        ("cite", "nocite", "bibitem", "bibliography", "bibliographystyle", "footcite", "fullcite"), "citation"
    ),
    **dict.fromkeys(("url", "path", "doi", "email"), "link"),
    **dict.fromkeys(("texttt", "lstinline", "code", "mintinline"), "code"),
    **dict.fromkeys(("includegraphics", "vspace", "hspace", "vskip", "hskip", "rule", "cline", "cmidrule"), "layout"),
    **dict.fromkeys(
        ("setlength", "addtolength", "setcounter", "addtocounter", "fontsize", "color", "textcolor"), "layout"
    ),
    **dict.fromkeys(
        ("scalebox", "resizebox", "raisebox", "multicolumn", "multirow", "rowcolor", "cellcolor"), "layout"
    ),
    **dict.fromkeys(
        ("pagestyle", "thispagestyle", "captionsetup", "hypersetup", "usepackage", "documentclass"), "layout"
    ),
    **dict.fromkeys(
        ("columnwidth", "linespread", "stretch", "phantom", "hphantom", "vphantom", "definecolor"), "layout"
    ),
    **dict.fromkeys(("date", "author", "affil", "thanks", "institute"), "front matter"),
    **dict.fromkeys(("unit", "si"), "unit"),
}
"""Commands whose arguments are set aside, and why; any command that begins or ends in `cite` is a citation as well."""

ARGUMENTS = {
    **dict.fromkeys(("setlength", "addtolength", "setcounter", "addtocounter", "fontsize", "rule", "resizebox"), 2),
    **dict.fromkeys(("multicolumn", "multirow", "crefrange", "Crefrange", "definecolor", "mintinline"), 2),
    **dict.fromkeys(("columnwidth",), 0),
    "definecolor": 3,
}
"""How many braced arguments of such a command are set aside, where it is not one."""

OWN_PASSAGE = ("footnote", "footnotetext", "caption", "captionof", "marginpar", "title", "thanks", "sidenote")

QUANTITIES = ("SI", "qty", "SIrange", "qtyrange", "numrange")
"""siunitx: a number (two for a range) and a unit; `num` is a number alone."""

VERBATIM = ("verbatim", "Verbatim", "lstlisting", "minted", "comment", "filecontents", "alltt")
MATHEMATICS = ("equation", "align", "gather", "multline", "displaymath", "math", "eqnarray", "flalign", "alignat")
TABLES = {"tabular": 1, "tabularx": 2, "tabulary": 2, "longtable": 1, "array": 1, "tabu": 1, "tblr": 1}
"""Environments of tables, and how many of their arguments are layout; a star takes one more."""

ENVIRONMENTS = {
    **dict.fromkeys(("minipage", "subfigure", "subtable", "multicols", "adjustbox", "spacing"), 1),
    **dict.fromkeys(("wrapfigure", "wraptable", "list"), 2),
}
"""Other environments with arguments that are layout, and how many."""

SET_ASIDE = {"thebibliography": "citation", "tikzpicture": "figure", "pgfpicture": "figure", "axis": "figure"}
"""Environments of which no number is a result of the text."""
