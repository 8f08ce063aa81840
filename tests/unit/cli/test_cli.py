"""The command line as its user meets it: what is printed, which files appear, which code comes back."""

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import metricdp

DATA = Path(metricdp.__file__).parent / "data" / "demo_positions.csv"
POSITIONS = ["--lat", "latitude", "--lon", "longitude"]


def test_version_and_help(run):
    assert run("--version").strip() == f"metricdp {metricdp.__version__}"
    text = run("--help")
    assert "Exit codes" in text
    for verb in ("release", "explain", "plot", "receipt", "demo", "reproduce", "ledger"):
        assert verb in text
        assert "Example" in run(*verb.split(), "--help") or verb == "ledger"
    for verb in ("create", "show"):
        assert "Example" in run("ledger", verb, "--help")


def test_release_plan_charge_and_receipt(run, tmp_path):
    made = run("ledger", "create", "budget", "--limit", "20 at 1 km")
    assert "epsilon·d <= 20 at 1 km" in made
    arguments = ["release", DATA, *POSITIONS, "--epsilon", "0.01", "--ledger", "budget", "--out", "out.csv"]
    plan = run(*arguments, "--dry-run")
    assert "Promised: epsilon = 0.01 per m" in plan
    assert "Charge:" in plan
    assert "200 m on average" in plan
    assert not (tmp_path / "out.csv").exists()
    assert "Wrote" in run(*arguments)
    assert "10 per km" in run("ledger", "show", "budget")
    assert "the limit" in run(*arguments[:-1], "b.csv", "--subject", "person", code=4).lower()
    assert not (tmp_path / "b.csv").exists()
    words = run("receipt", "out.csv.receipt.json")
    assert "is the file that was released" in words
    picture = run("plot", DATA, "out.csv").strip()
    assert Path(picture).read_bytes()[:4] == b"\x89PNG"
    assert Path(picture).is_absolute()


def test_release_of_vectors(run, tmp_path):
    (tmp_path / "v.csv").write_text("a,b,c\n1,2,x\n3,4,y\n")
    run("release", "v.csv", "--columns", "a,b", "--norm", "inf", "--epsilon", "2", "--out", "o.csv", "--yes")
    receipt = json.loads((tmp_path / "o.csv.receipt.json").read_text())
    assert receipt["parameters"]["space"] == {"space": "Euclidean", "dim": 2, "norm": "inf", "unit": ""}
    run("release", "v.csv", "--columns", "a", "--rho", "2", "--unit", "kg", "--out", "p.csv", "--seed", "4")
    assert json.loads((tmp_path / "p.csv.receipt.json").read_text())["randomness"]["reproducible"]
    assert Path(run("plot", "v.csv", "o.csv", "--columns", "a,b").strip()).exists()


def test_explain(run):
    assert "2.7-fold" in run("explain", "--epsilon", "0.01", "--unit", "m")
    assert "0.0013863 per m" in run("explain", "--odds", "2", "--radius", "500")
    assert "within 1000 m (approximate" in run("explain", "--rho", "5e-6", "--delta", "1e-9", "--radius", "1000")
    assert "vectors of 3" in run("explain", "--epsilon", "1", "--dim", "3", "--unit", "")
    for wrong in ([], ["--epsilon", "1", "--rho", "1"], ["--odds", "2"], ["--epsilon", "-1"], ["--epsilon", "x"]):
        run("explain", *wrong, code=3)


def test_demo_ends_with_the_picture_alone_on_its_line(run, tmp_path):
    lines = run("demo").rstrip("\n").split("\n")
    assert Path(lines[-1]).is_absolute()
    assert Path(lines[-1]).suffix == ".png"
    assert Path(lines[-1]).exists()
    assert any(line.startswith("Promised: epsilon = 0.01") for line in lines)


def test_ledgers_of_other_kinds(run):
    run("ledger", "create", "a", "--rho", "1e-4")
    run("ledger", "create", "b", "--epsilon", "0.02", "--delta", "1e-9", "--radius", "1000")
    run("ledger", "create", "c", "--epsilon", "3", "--columns", "2", "--norm", "1", "--unit", "cm")
    run("ledger", "create", "d", "--limit", "3 at 1 cm", "--columns", "2")
    run("ledger", "create", "d", "--limit", "3 at 1 cm", code=5)
    run("ledger", "create", "e", code=3)
    run("ledger", "show", "none", code=5)
    run("release", DATA, *POSITIONS, "--rho", "5e-6", "--ledger", "a", "--out", "o.csv")
    assert "Charges: 0." in run("ledger", "show", "c")
    assert "release of o.csv" in run("ledger", "show", "a", "--last", "1")


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["release", "none.csv", *POSITIONS, "--epsilon", "1", "--out", "o.csv"], 5),
        (["release", DATA, "--lat", "nope", "--lon", "longitude", "--epsilon", "1", "--out", "o.csv"], 5),
        (["release", DATA, *POSITIONS, "--epsilon", "0", "--out", "o.csv"], 3),
        (["release", DATA, *POSITIONS, "--epsilon", "1", "--rho", "1", "--out", "o.csv"], 3),
        (["release", DATA, *POSITIONS, "--out", "o.csv"], 3),
        (["release", DATA, *POSITIONS, "--epsilon", "1"], 3),
        (["release", DATA, "--lat", "latitude", "--epsilon", "1", "--out", "o.csv"], 3),
        (["release", DATA, *POSITIONS, "--epsilon", "1", "--unit", "parsec", "--out", "o.csv"], 3),
        (["release", DATA, *POSITIONS, "--epsilon", "1", "--out", "no/folder/o.csv"], 5),
        (["release", DATA, "--columns", "person", "--epsilon", "1", "--out", "o.csv"], 5),
        (["release", DATA, "--columns", "latitude", "--norm", "7", "--epsilon", "1", "--out", "o.csv"], 3),
        (["release", "/dev/stdin", *POSITIONS, "--epsilon", "1", "--out", "o.csv"], 5),
        (["release", DATA, *POSITIONS, "--epsilon", "1", "--out", "o.csv", "--seed", "-1"], 3),
        (["release", DATA, *POSITIONS, "--epsilon", "1", "--out", "o.csv", "--seed", "x"], 2),
        (["release", DATA, "--nonsense"], 2),
        (["nonsense"], 2),
        (["plot", DATA, DATA], 3),
        (["plot", DATA, DATA, *POSITIONS, "--picture", "a.nonsense"], 5),
        (["receipt", DATA], 5),
        (["reproduce", "999"], 3),
        (["reproduce", "004", "--artefact", "table9"], 3),
    ],
)
def test_refusals_are_one_message_and_leave_no_file(run, tmp_path, arguments, code):
    message = run(*arguments, code=code)
    assert len(message.strip().split("\n")) == 1
    assert list(tmp_path.iterdir()) == []


def test_errors_of_the_program_show_no_value(run, monkeypatch):
    def broken(*_, **__):
        raise RuntimeError("secret value 48.8566")

    monkeypatch.setattr("metricdp.release.plan", broken)
    message = run("release", DATA, *POSITIONS, "--epsilon", "1", "--out", "o.csv", code=1)
    assert "48.8566" not in message


def test_budgets_are_checked_in_a_dry_run_and_never_overwritten(run, tmp_path):
    run("ledger", "create", "small", "--limit", "5 at 1 km")
    arguments = ["release", DATA, *POSITIONS, "--epsilon", "0.01", "--ledger", "small", "--out"]
    assert "nothing was sampled" in run(*arguments, "o.csv", "--dry-run", code=4)
    before = (tmp_path / "small").read_bytes()
    assert "The output is the ledger" in run(*arguments, "small", code=5)
    assert (tmp_path / "small").read_bytes() == before
    os.mkfifo(tmp_path / "pipe")
    assert "no regular file" in run("release", DATA, *POSITIONS, "--epsilon", "1", "--out", "pipe", code=5)


def test_files_without_a_header_are_refused_without_showing_them(run, tmp_path):
    (tmp_path / "h.csv").write_text("48.85,2.35,ann\n48.86,2.36,bob\n")
    message = run("release", "h.csv", "--lat", "lat", "--lon", "lon", "--epsilon", "1", "--out", "o.csv", code=5)
    assert "48.85" not in message
    assert "ann" not in message
    arguments = ["release", "h.csv", "--lat", "48.85", "--lon", "2.35", "--epsilon", "1", "--out", "o.csv"]
    assert "no header" in run(*arguments, code=5)


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["ledger", "create", "a", "--epsilon", "1", "--columns", "2", "--norm", "abc"], 3),
        (["ledger", "create", "a", "--epsilon", "1", "--radius", "5"], 3),
        (["demo", "--folder", "/dev/null"], 5),
        (["receipt", "."], 5),
        (["reproduce", "004", "--limit", "nan"], 3),
        (["explain", "--epsilon", "1", "--unit", "meter"], 3),
        (["explain", "--epsilon", "1", "--radius", "5"], 3),
        (["explain", "--epsilon", "1", "--dim", "0"], 3),
        (["plot", DATA, DATA, "--lat", "latitude"], 3),
        (["plot", DATA, DATA, "--columns", "latitude"], 3),
        ([], 2),
        (["ledger"], 2),
    ],
)
def test_mistakes_are_not_errors_of_the_program(run, tmp_path, arguments, code):
    assert run(*arguments, code=code)
    assert list(tmp_path.iterdir()) == []


def test_half_a_cell_is_computed_again(run, tmp_path):
    arguments = ["reproduce", "004", "--artefact", "lemma37", "--quick", "--out", "r"]
    page = Path(run(*arguments).strip())
    cell = next((page.parent / "cells").iterdir())
    cell.write_text(cell.read_text()[:20])
    run(*arguments)
    assert json.loads(cell.read_text())["error"] is None


def test_terminals_without_the_letters(tmp_path):
    command = [sys.executable, "-m", "metricdp", "explain", "--rho", "1e-6"]
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    shown = subprocess.run(command, capture_output=True, env=environment, check=True)
    assert b"alpha?rho" in shown.stdout
    wrong = subprocess.run([*command, "--dim", "0"], capture_output=True, env=environment, check=False)
    assert wrong.returncode == 3


def test_a_reader_who_leaves_loses_nothing(tmp_path):
    command = [sys.executable, "-m", "metricdp", "release", DATA, *POSITIONS, "--epsilon", "1", "--out", "o.csv"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=tmp_path)
    process.stdout.close()
    assert process.wait() == 0
    assert process.stderr.read() == b""
    process.stderr.close()
    assert (tmp_path / "o.csv").exists()


def test_audit_of_a_matrix(run, tmp_path):
    np.save(tmp_path / "m.npy", [[0.8, 0.2], [0.2, 0.8]])
    np.save(tmp_path / "d.npy", [[0.0, 1.0], [1.0, 0.0]])
    arguments = ["audit", "m.npy", "--distances", "d.npy"]
    assert "epsilon = 1.38629436112" in run(*arguments)
    assert "It keeps epsilon = 2" in run(*arguments, "--epsilon", "2")
    assert "does not keep" in run(*arguments, "--epsilon", "1", code=4)
    assert "delta = 0.1" in run(*arguments, "--delta", "0.1")
    run("audit", "none.npy", "--distances", "d.npy", code=5)
    (tmp_path / "d.npy").write_text("text")
    run(*arguments, code=5)


def test_a_saved_channel_is_verified_again(run, tmp_path):
    space = metricdp.FiniteSpace(["a", "b"], [[0, 1], [1, 0]], unit="km")
    channel = metricdp.Channel.from_matrix(space, [[0.75, 0.25], [0.25, 0.75]])
    channel.certify().save(tmp_path / "c.npz")
    assert "The certificate in the file says the same" in run("certify", "c.npz", "--epsilon", "1.1")
    assert "The loss is 1.09861" in run("certify", "c.npz", "--epsilon", "1", code=4)
    channel.save(tmp_path / "c.npz")
    assert "holds no certificate" in run("certify", "c.npz")
    run("certify", "none.npz", code=5)


def test_reproduction_is_kept_and_resumed(run, tmp_path):
    assert "004" in run("reproduce", "list")
    arguments = ["reproduce", "004", "--artefact", "lemma37", "--quick", "--out", "r"]
    page = Path(run(*arguments).strip())
    text = page.read_text()
    assert "| rho that implies (1, 1e-10, 10), paper |" in text
    stamps = {p: p.stat().st_mtime_ns for p in (page.parent / "cells").iterdir()}
    assert len(stamps) == 6
    run(*arguments)
    assert stamps == {p: p.stat().st_mtime_ns for p in (page.parent / "cells").iterdir()}


def test_a_terminal_is_asked_and_no_means_no(tmp_path):
    main_end, other_end = pty.openpty()
    command = [sys.executable, "-m", "metricdp", "release", DATA, *POSITIONS, "--epsilon", "1", "--out", "o.csv"]
    process = subprocess.Popen(command, stdin=other_end, stdout=other_end, stderr=other_end, cwd=tmp_path)
    os.close(other_end)
    os.write(main_end, b"n\n")
    shown = b""
    try:
        while block := os.read(main_end, 4096):
            shown += block
    except OSError:
        pass
    os.close(main_end)
    assert process.wait() == 130
    assert b"Release?" in shown
    assert list(tmp_path.iterdir()) == []
