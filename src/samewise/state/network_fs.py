"""Whether a path lies on a network file system, where SQLite's locks cannot be trusted."""

from __future__ import annotations

import re
from pathlib import Path

MOUNTINFO = Path("/proc/self/mountinfo")

# fmt: off
_NETWORK = frozenset({
    "9p", "afs", "beegfs", "ceph", "cifs", "coda", "davfs", "gfs", "gfs2", "glusterfs", "gpfs",
    "lustre", "ncpfs", "nfs", "nfs4", "ocfs2", "orangefs", "panfs", "pvfs2", "smb2", "smb3",
    "smbfs", "wekafs",
})
# What runs behind FUSE is told by its subtype: `fuse.sshfs`.
_NETWORK_FUSE = frozenset({
    "afp", "blobfuse", "blobfuse2", "ceph", "ceph-fuse", "curlftpfs", "davfs", "davfs2", "gcsfuse",
    "glusterfs", "goofys", "hdfs", "juicefs", "mount-s3", "mountpoint-s3", "rclone", "s3fs",
    "seaweedfs", "sshfs",
})
# fmt: on


def network_file_system(path: Path, mountinfo: str) -> str | None:
    """The type of the network file system that holds the absolute `path`; None for a local one.

    `mountinfo` is the text of Linux's /proc/self/mountinfo.
    """
    deepest, kind = -1, ""
    for line in mountinfo.splitlines():
        before, separator, after = line.partition(" - ")
        fields = before.split(" ")
        if not separator or len(fields) < 5:
            continue
        mount = Path(_unescape(fields[4]))
        # A later line covers an earlier one on the same mount point, hence `>=`.
        if path.is_relative_to(mount) and len(mount.parts) >= deepest:
            deepest, kind = len(mount.parts), after.split(" ")[0]
    base, _, subtype = kind.partition(".")
    if kind in _NETWORK or (base.startswith("fuse") and subtype in _NETWORK_FUSE):
        return kind
    return None


def _unescape(field: str) -> str:
    return re.sub(r"\\([0-7]{3})", lambda match: chr(int(match[1], 8)), field)
