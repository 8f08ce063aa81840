"""The command line, called as its user calls it."""

import pytest

from metricdp.cli import main


@pytest.fixture
def run(capfd, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)

    def call(*arguments, code=0):
        with pytest.raises(SystemExit) as left:
            main([str(a) for a in arguments])
        out, err = capfd.readouterr()
        assert left.value.code == code, err
        if code:
            assert err.startswith("metricdp: ") or code == 2
            assert "Traceback" not in err
        return out if code == 0 else err

    return call
