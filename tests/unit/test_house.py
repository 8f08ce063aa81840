"""The rules of the house that a machine can check."""

import ast
import re
import statistics
import subprocess
import sys
from pathlib import Path

import pytest

import metricdp

ROOT = Path(__file__).parents[2]
SOURCES = sorted((ROOT / "src" / "metricdp").rglob("*.py"))


def test_files_and_functions_are_short():
    sizes = [len(p.read_text().splitlines()) for p in SOURCES]
    assert statistics.median(sizes) < 200
    assert max(sizes) <= 500
    for path in SOURCES:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef):
                body = node.body[1:] if ast.get_docstring(node) and len(node.body) > 1 else node.body
                assert (body[-1].end_lineno or 0) - body[0].lineno < 80, f"{path.name}: {node.name}"


GENERATORS = re.compile(r"np\.random|numpy\.random|^\s*(import|from) (random|secrets)\b|urandom|shake_", re.MULTILINE)


def test_only_entropy_touches_a_generator():
    assert [path.name for path in SOURCES if GENERATORS.search(path.read_text())] == ["entropy.py"]


def test_import_loads_numpy_and_scipy_only():
    code = (
        "import sys, numpy, scipy; before = set(sys.modules); import metricdp; "
        "roots = {name.split('.')[0] for name in set(sys.modules) - before}; "
        "print(sorted(r for r in roots if r not in sys.stdlib_module_names and r not in "
        "('metricdp', 'numpy', 'scipy') and not r.startswith('__editable__')))"
    )
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "[]"


def test_core_use_loads_numpy_and_scipy_only():
    code = (
        "import sys, metricdp as md; md.Laplace(md.Geographic(), 0.01).release([[0, 0]]); md.Ledger; "
        "print(sorted({m.split('.')[0] for m in sys.modules} & {'typer', 'rich', 'matplotlib', 'pandas', 'pyarrow'}))"
    )
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "[]"


def test_export_list_is_what_resolves():
    assert sorted(metricdp.__all__) == metricdp.__all__
    assert set(metricdp.__all__) == {*metricdp._HOMES, "__version__"}
    for name in metricdp.__all__:
        assert getattr(metricdp, name) is not None
    for room in metricdp._ROOMS:
        assert getattr(metricdp, room).__doc__
    assert set(metricdp.__all__) <= set(dir(metricdp))
    with pytest.raises(AttributeError, match="no attribute"):
        metricdp.nothing  # noqa: B018


def test_every_proof_page_exists_and_is_mentioned():
    for mechanism in (metricdp.Laplace(metricdp.Euclidean(1), 1), metricdp.Gaussian(metricdp.Euclidean(1), 1)):
        page = ROOT / "proofs" / f"{mechanism.guarantee.proof}.md"
        assert page.exists()
        assert "rounding.md" in page.read_text()
    assert (ROOT / "proofs" / "composition.md").exists()
    assert (ROOT / "proofs" / "rounding.md").exists()


def test_version_is_one():
    pyproject = (ROOT / "pyproject.toml").read_text()
    assert f'version = "{metricdp.__version__}"' in pyproject
    assert metricdp.__version__ in (ROOT / "CHANGELOG.md").read_text()
    assert metricdp.__version__ in (ROOT / "CITATION.cff").read_text()


PAGES = ["README.md", *sorted(str(page.relative_to(ROOT)) for page in (ROOT / "docs").glob("*.md"))]


@pytest.mark.parametrize("page", PAGES)
def test_code_of_the_documentation_runs(page):
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(), re.DOTALL)
    assert blocks or page in {"docs/command_line.md", "docs/positions.md"}
    for block in blocks:
        exec(compile(block, page, "exec"), {})
