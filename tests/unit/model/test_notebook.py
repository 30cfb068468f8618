"""A notebook shows the tree as HTML that is well formed and hides no name."""

from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest

from bayesian_reticulum import ReticulumClassifier
from bayesian_reticulum.model.notebook import as_html
from small_models import MODELS, chain, fitted


class Balance(HTMLParser):
    """Tags that are open, and the text between tags."""

    def __init__(self):
        super().__init__()
        self.opened, self.written, self.seen = [], [], set()

    def handle_starttag(self, tag, attributes):
        self.seen.add(tag)
        if tag != "br":
            self.opened.append(tag)

    def handle_endtag(self, tag):
        assert self.opened.pop() == tag

    def handle_data(self, text):
        self.written.append(text)


@pytest.mark.parametrize("name", MODELS)
def test_a_notebook_shows_the_tree(name):
    model, *_ = fitted(name)
    page = Balance()
    page.feed(as_html(model.model_))
    assert page.opened == []
    assert page.seen <= {"div", "details", "summary", "span", "small", "b", "br"}
    written = "".join(page.written)
    for line in str(model.model_).splitlines()[1:]:
        node = line.lstrip("│├└─ ").removeprefix("left  ").removeprefix("right ")
        # Probabilities stand in bars of their own.
        parts = node.removesuffix(")").replace("  (", ", ").replace(": ", ": , ").split(", ")
        if name in ("ordered classes", "mixed prior"):
            # Bars take the place of how these families describe a leaf.
            parts = [parts[0], parts[-1]]
        assert all(part in written for part in ([node] if "leaf" not in node else parts))


def test_each_split_is_a_branch_that_opens_and_closes():
    html = as_html(chain(3, ("a",)).model_)
    assert html.count("<details open") == html.count("</details>") == html.count("<summary") == 3


def test_the_most_probable_class_of_a_leaf_is_bold():
    model = chain(1, ("a",)).model_
    bold = [part.split("</b>")[0] for part in as_html(model).split("<b>")[1:]]
    for statistics in model.statistics:
        best = int(np.argmax(model.family.probabilities(statistics)))
        assert f"{model.targets[best]} {model.family.probabilities(statistics)[best]:.3f}" in bold
    assert sum(name.startswith(model.targets) for name in bold) == 2


def test_a_notebook_shows_names_as_text():
    X = pd.DataFrame({"<script>alert(1)</script>": np.linspace(-1, 1, 60)})
    model = ReticulumClassifier(patience=1, random_state=0).fit(X, np.where(X.iloc[:, 0] > 0, "<img src=x>", "b&b"))
    page = as_html(model.model_)
    assert "<script" not in page
    assert "<img" not in page
    assert "&lt;img src=x&gt;" in page
