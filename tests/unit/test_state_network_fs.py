"""Where SQLite's locks cannot be trusted."""

from __future__ import annotations

from pathlib import Path

import pytest

from samewise.core.errors import ConfigError
from samewise.state import engine
from samewise.state.network_fs import network_file_system
from samewise.state.store import Store

LOCAL = "22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n"


def mounted(kind: str, at: str) -> str:
    return f"40 22 0:50 / {at} rw,relatime shared:9 master:2 - {kind} server:/export rw\n"


@pytest.mark.parametrize(
    "kind", ["nfs", "nfs4", "cifs", "smb3", "9p", "ceph", "lustre", "gpfs", "fuse.sshfs", "fuse.glusterfs"]
)
def test_a_network_mount_is_named(kind: str) -> None:
    assert network_file_system(Path("/data/p/state.db"), LOCAL + mounted(kind, "/data")) == kind


@pytest.mark.parametrize("kind", ["ext4", "xfs", "overlay", "tmpfs", "btrfs", "fuse.fuse-overlayfs", "fuseblk"])
def test_a_local_mount_is_fine(kind: str) -> None:
    assert network_file_system(Path("/data/state.db"), LOCAL + mounted(kind, "/data")) is None


def test_only_the_mount_that_holds_the_path_counts() -> None:
    assert network_file_system(Path("/database/state.db"), LOCAL + mounted("nfs", "/data")) is None


def test_the_deepest_mount_counts_whatever_the_order() -> None:
    table = mounted("ext4", "/data/fast") + mounted("nfs", "/data") + LOCAL
    assert network_file_system(Path("/data/fast/state.db"), table) is None


def test_a_later_mount_covers_an_earlier_one() -> None:
    table = LOCAL + mounted("ext4", "/data") + mounted("nfs", "/data")
    assert network_file_system(Path("/data/state.db"), table) == "nfs"


def test_a_mount_point_with_a_space_is_understood() -> None:
    assert network_file_system(Path("/my data/state.db"), LOCAL + mounted("nfs", "/my\\040data")) == "nfs"


def test_a_line_that_is_not_understood_is_passed_over() -> None:
    assert network_file_system(Path("/data/state.db"), "nonsense\n\n" + LOCAL) is None


def test_a_store_on_a_network_file_system_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = tmp_path / "mountinfo"
    table.write_text(LOCAL + mounted("nfs4", str(tmp_path.resolve() / "share")))
    monkeypatch.setattr(engine, "MOUNTINFO", table)
    with pytest.raises(ConfigError, match=r"network file system \(nfs4\)") as caught:
        Store.open(f"sqlite:///{tmp_path}/share/deep/state.db")
    assert caught.value.code == "network_file_system"
    assert not (tmp_path / "share").exists()
