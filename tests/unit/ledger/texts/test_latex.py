"""LaTeX as passages, each character with its place."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.errors import ClaimError
from assay.ledger.texts.latex import read_latex
from assay.ledger.texts.passage import CLAIMREF
from assay.ledger.texts.values import values_of

PAPER = Path(__file__).resolve().parents[3] / "fixtures/paper/paper.tex"


def found(source: str) -> list[tuple[str, str]]:
    return [(value.text, why) for passage in read_latex(source) for value, why in values_of(passage)]


def prose(source: str) -> list[str]:
    return [text for text, why in found(source) if not why]


@pytest.mark.parametrize(
    ("source", "values"),
    [
        (r"3{,}000, 87.5\,\% and 87.5\% of $14/20$", ["3,000", "87.5%", "87.5%", "14/20"]),
        (r"\num{1.2e-3}, \SI{5}{\metre}, \qty{87.5}{\percent}", ["1.2e-3", "5", "87.5%"]),
        (r"\textbf{14}/20, {\bf 5}, $0.85\pm0.02$", ["14/20", "5", "0.85 +- 0.02"]),
        (r"$0.37$ $[0.35, 0.39]$ and $0.37\ [0.35, 0.39]$", ["0.37 [0.35, 0.39]", "0.37 [0.35, 0.39]"]),
        (r"\(p<0.001\), \[n = 20\] \begin{align*} m &= 30 \end{align*}", ["< 0.001", "20", "30"]),
        ("14 % 15\n/20", ["14/20"]),
        (r"\newcommand{\acc}{87.5\%}\newcommand{\one}[1]{5#1}\acc{} and $\acc$", ["87.5%", "87.5%"]),
        (r"a\\[3pt]b \hspace{3pt}14/20 \vspace*{2mm}", ["14/20"]),
        ("10--20, a~5 and ``6''", ["10", "20", "5", "6"]),
        (r"\cmidrule(lr){2-3}\multicolumn{2}{c}{7}", ["7"]),
        (r"\item[3] 4", ["4"]),
        (r"\fbox{x}{303/1000} \colorbox{yellow}{302/1000} \gls{x}{44.4\%}", ["303/1000", "302/1000", "44.4%"]),
        (r"\hyperref[s]{304/1000}", ["304/1000"]),
        (r"5 \verb", ["5"]),
        (r"5 \verb*|6| 7", ["5", "7"]),
        (r"\verb|5| \texttt{6} \ref{a7}, \citep[p.~8]{b9} \url{x/10} \href{x/11}{12} \label{s:13}", ["12"]),
        (r"\begin{lstlisting}[x=1]5\end{lstlisting}\begin{minipage}{0.5\textwidth}6\end{minipage}", ["6"]),
        (r"one\footnote{Two 2. Three 3.} four 4", ["2", "3", "4"]),
        (r"x \% 5 \\% 6", ["5"]),
        (r"87.5$_{\pm 0.3}$, 47.9 {\tiny $\pm$ 0.2}, 63.8$^{*}$", ["87.5 +- 0.3", "47.9 +- 0.2", "63.8"]),
        (r"$-$0.5, $<$0.001", ["-0.5", "< 0.001"]),
        (r"24.1\textsuperscript{1} 87.7\textsuperscript{a} 10\textsuperscript{-3}", ["24.1", "87.7", "1e-3"]),
        (r"H\textsubscript{2}O 87.5\textsubscript{$\pm$0.3}", ["87.5 +- 0.3"]),
        (r"\cellcolor[gray]{0.9}14.5 \textcolor[rgb]{1,0,0}{5}", ["14.5", "5"]),
        (r"\num{1.2 e-3} \num{0.85(2)} 0.850(20)", ["1.2e-3", "0.85 +- 0.02", "0.850 +- 0.020"]),
        (
            r"\lstinline|28| \lstinline[x=1]{29} \mintinline{c}|30| \url{a%2031} 32 \texorpdfstring{33}{34}",
            ["32", "33"],
        ),
        (r"\kern-3pt 5 \hskip 2pt 6 \looseness=-1 7 \baselineskip=14pt 8 \parbox{3cm}{9}", ["5", "6", "7", "8", "9"]),
        (r"\subfloat[Six of 7.]{x} \begin{tabbing}1\=2\end{tabbing}", ["7", "1", "2"]),
        (r"\item<2-> 5 \only<3>{6} \begin{block}<2->{7} 8\end{block} \textbf<1>{9}", ["5", "6", "7", "8", "9"]),
        (r"\begin{overlayarea}{\textwidth}{3cm}5\end{overlayarea}", ["5"]),
        (r"\begin{frame}[t]{6}{7}8\end{frame}", ["6", "7", "8"]),
        (r"\newcommand{\x}{5}\begin{pmatrix}\x\end{pmatrix} $\mathbf{\x}$", ["5", "5"]),
    ],
)
def test_numbers(source: str, values: list[str]) -> None:
    assert sorted(prose(source)) == sorted(values)


def test_a_row_of_a_table_is_a_passage_and_cells_stay_apart() -> None:
    source = "\\begin{tabular}{l*{2}{r}}\na & 0.37 & [0.35, 0.39] \\\\[2pt]\nb & 5 & \\\\\n\\end{tabular}\nAfter 6."
    rows = [passage for passage in read_latex(source) if passage.row]
    assert [[value.text for value, why in values_of(row) if not why] for row in rows] == [
        ["0.37", "[0.35, 0.39]"],
        ["5"],
    ]


def test_preamble_and_what_follows_the_document() -> None:
    source = "\\def\\n{5}\n% \\begin{document}\n1\n\\begin{document}\n\\n\\end{document}\n7"
    assert found(source) == [("5", "preamble"), ("1", "preamble"), ("5", "")]


def test_what_ends_too_early_is_read_to_the_end() -> None:
    for source in (
        "$5",
        "\\textbf{5",
        "\\begin{verbatim}5",
        "5\\",
        "\\verb|5",
        "\\[5",
        "\\begin{align}5",
        "\\cite{5",
        "5 %",
    ):
        assert len(found(source)) == 1, source


def test_results() -> None:
    source = (
        "\\begin{abstract}1\\end{abstract} 2 \\section{Results on \\emph{seeds}}3\\subsection*{x}4\\section{y}5\n\n"
        "% claims: results\n6\n\n% claims: end\n7"
    )
    about = [(value.text, one.results) for one in read_latex(source) for value, _ in values_of(one)]
    assert [number for number, results in about if results] == ["1", "3", "4", "6"]
    with pytest.raises(ClaimError, match="line 2: claims: stop is no mark"):
        read_latex("x\n%claims: stop")


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_a_paragraph_ends_at_a_blank_line_and_nowhere_else(newline: str) -> None:
    source = newline.join(["a 1", "b 2", "", "c % x", "  ", "d", "% y", "e"])
    assert [" ".join(one.text.split()) for one in read_latex(source)] == ["a 1 b 2", "c", "d e"]


def test_the_title_of_a_frame_is_a_heading() -> None:
    source = (
        r"\begin{frame}{Results}1\end{frame}\begin{frame}\frametitle{Results}\framesubtitle{2}3\end{frame}"
        r"\begin{frame}{Method}4\end{frame}\begin{frame}5\end{frame}"
    )
    about = [(value.text, one.results) for one in read_latex(source) for value, _ in values_of(one)]
    assert [number for number, results in about if results] == ["1", "2", "3"]


def test_places_of_the_paper() -> None:
    source = PAPER.read_text()
    for passage in read_latex(source):
        for at, (start, end) in enumerate(passage.spans):
            if end - start == 1 and passage.text[at] not in " \t|" and passage.asides[at] != CLAIMREF:
                assert source[start:end] == passage.text[at] or source[start] in "~-`'_}^\\"
