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
        ("crefrange", "Crefrange", "footref", "tag", "hyperlink", "hypertarget", "footnotemark"), "reference"
    ),
    **dict.fromkeys(
        ("cite", "nocite", "bibitem", "bibliography", "bibliographystyle", "addbibresource", "printbibliography"),
        "citation",
    ),
    **dict.fromkeys(("url", "path", "doi", "email"), "link"),
    **dict.fromkeys(("texttt", "lstinline", "code", "mintinline", "lstinputlisting", "verbatiminput"), "code"),
    **dict.fromkeys(("includegraphics", "vspace", "hspace", "rule", "cline", "cmidrule"), "layout"),
    **dict.fromkeys(
        ("setlength", "addtolength", "setcounter", "addtocounter", "fontsize", "color", "textcolor", "rowcolors"),
        "layout",
    ),
    **dict.fromkeys(
        ("scalebox", "resizebox", "raisebox", "multicolumn", "multirow", "rowcolor", "cellcolor", "column", "parbox"),
        "layout",
    ),
    **dict.fromkeys(
        ("pagestyle", "thispagestyle", "captionsetup", "hypersetup", "usepackage", "documentclass"), "layout"
    ),
    **dict.fromkeys(
        ("columnwidth", "linespread", "stretch", "phantom", "hphantom", "vphantom", "definecolor"), "layout"
    ),
    **dict.fromkeys(("rotatebox", "adjustbox", "fcolorbox", "colorbox", "geometry", "sisetup", "SetCell"), "layout"),
    "parbox": "layout",
    **dict.fromkeys(("date", "author", "affil", "thanks", "institute"), "front matter"),
    **dict.fromkeys(("unit", "si"), "unit"),
}
"""Commands whose arguments are set aside, and why; any command that begins or ends in `cite` is a citation as well."""

ARGUMENTS = {
    **dict.fromkeys(("setlength", "addtolength", "setcounter", "addtocounter", "fontsize", "rule", "resizebox"), 2),
    **dict.fromkeys(("multicolumn", "multirow", "crefrange", "Crefrange", "definecolor", "mintinline"), 2),
    **dict.fromkeys(("columnwidth",), 0),
    "definecolor": 3,
    "fcolorbox": 2,
    "rowcolors": 3,
    "footnotemark": 0,
    "printbibliography": 0,
}
"""How many braced arguments of such a command are set aside, where it is not one."""

OWN_PASSAGE = (
    *("footnote", "footnotetext", "caption", "captionof", "subcaption", "subcaptionbox", "marginpar", "sidenote"),
    *("title", "framesubtitle", "thanks"),
)

QUANTITIES = ("SI", "qty", "SIrange", "qtyrange", "numrange")
"""siunitx: a number (two for a range) and a unit; `num` is a number alone."""

VERBATIM = ("verbatim", "Verbatim", "lstlisting", "minted", "comment", "filecontents", "alltt")
MATHEMATICS = ("equation", "align", "gather", "multline", "displaymath", "math", "eqnarray", "flalign", "alignat")
TABLES = {"tabular": 1, "tabularx": 2, "tabulary": 2, "longtable": 1, "array": 1, "tabu": 1, "tblr": 1}
"""Environments of tables, and how many of their arguments are layout; a star takes one more."""

ENVIRONMENTS = {
    **dict.fromkeys(("minipage", "subfigure", "subtable", "multicols", "adjustbox", "spacing", "column"), 1),
    **dict.fromkeys(("wrapfigure", "wraptable", "list", "adjustwidth", "overlayarea"), 2),
}
"""Other environments with arguments that are layout, and how many."""

INCLUDES = {
    **dict.fromkeys(("input", "include", "@input", "subfile", "subfileinclude", "InputIfFileExists"), 1),
    **dict.fromkeys(("import", "inputfrom", "includefrom", "subimport", "subinputfrom", "subincludefrom"), 2),
}
"""Commands that read a file, and how many arguments name it; the first of two is its folder."""

UNREAD = {
    **dict.fromkeys(("csname", "scantokens", "expandafter", "ExplSyntaxOn"), "it makes commands while LaTeX runs"),
    **dict.fromkeys(
        ("fpeval", "inteval", "numexpr", "dimexpr", "pgfmathparse", "pgfmathresult", "pgfmathprintnumber", "calc"),
        "it is computed while LaTeX runs",
    ),
    **dict.fromkeys(("foreach", "loop", "whiledo", "multido"), "it is repeated while LaTeX runs"),
    **dict.fromkeys(
        (
            *("pgfplotstabletypeset", "pgfplotstableread", "csvautotabular", "csvautobooktabular", "csvautolongtable"),
            *("csvreader", "csvloop", "DTLloaddb", "DTLforeach", "DTLfetch", "DTLdisplaydb", "readarray"),
        ),
        "it prints the numbers of a data file",
    ),
    **dict.fromkeys(("directlua", "luaexec", "Sexpr", "py", "pyc", "sage", "write18"), "it runs a program"),
    "includeonly": "every included file is read",
    "includepdf": "its pages are no text",
    "ifthenelse": "it is not decided: all of its text is read",
    "assay": "no file of numbers was read before it: \\input the numbers.tex of assay report",
}
"""Commands that are listed as not read, and why."""

NO_NUMBER = ("expandafter", "includeonly", "ifthenelse", "ExplSyntaxOn")
"""Those of them that print no number which is not read elsewhere."""

SET_ASIDE = {"thebibliography": "citation", "tikzpicture": "figure", "pgfpicture": "figure", "axis": "figure"}
"""Environments of which no number is a result of the text."""

_KEPT_ENVIRONMENTS = (*VERBATIM, *MATHEMATICS, *TABLES, *ENVIRONMENTS, *SET_ASIDE, "abstract", "frame", "document")
KEPT = frozenset(
    (
        *(*HEADINGS, *OWN_PASSAGE, *QUANTITIES, *INCLUDES),
        *("csname", "expandafter", "assay", "claimref", "begin", "end", "item", "par", "verb", "num", "href"),
        *("abstract", "frametitle", "left", "right", "text", "mathrm", "textsuperscript", "textsubscript", "frac"),
        *(f"{edge}{{{name}}}" for edge in ("begin", "end") for name in _KEPT_ENVIRONMENTS),
    )
)
"""Commands and environments that are read as they are known, however a text or its style defines them."""


def is_citation(name: str) -> bool:
    """Whether a command cites literature: its name begins or ends in `cite`."""
    return "cite" in name.lower()
