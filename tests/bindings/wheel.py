"""The files of a wheel: what RECORD says of them, their order, times and modes.

wheel.py FILE NAME VERSION PROGRAM...   the paths of the programs in it
"""

import base64
import csv
import email
import hashlib
import io
import re
import sys
import zipfile

path, name, version, *programs = sys.argv[1:]
with zipfile.ZipFile(path) as archive:
    assert archive.testzip() is None
    names = archive.namelist()
    information = "%s-%s.dist-info/" % (name, version)
    assert names[-1] == information + "RECORD" and len(set(names)) == len(names)
    first = [each.startswith(information) for each in names].index(True)
    assert all(each.startswith(information) for each in names[first:]) and names[:first] == sorted(names[:first])
    rows = {row[0]: row[1:] for row in csv.reader(io.StringIO(archive.read(names[-1]).decode()))}
    assert sorted(rows) == sorted(names)
    for each in names[:-1]:
        data = archive.read(each)
        sum_of = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        assert rows[each] == ["sha256=" + sum_of, str(len(data))], each
    assert rows[names[-1]] == ["", ""]
    for each in archive.infolist():
        wanted = 0o755 if each.filename in programs else 0o644
        assert each.external_attr >> 16 & 0o777 == wanted and each.date_time == (1980, 1, 1, 0, 0, 0), each
        assert not each.extra and not each.comment, each
    described = email.message_from_bytes(archive.read(information + "METADATA"))
    assert (described["Name"], described["Version"]) == (name, version) and described["Metadata-Version"] == "2.1"
    assert described["Summary"] and described["Requires-Python"] == ">=3.10"
    tag = email.message_from_bytes(archive.read(information + "WHEEL"))["Tag"]
    assert re.search(r"(^|/)%s-%s-%s\.whl$" % (name, re.escape(version), tag), path), (path, tag)
    print(tag, *sorted(described.get_all("Requires-Dist") or []), sep="\n")
    print(*names, sep="\n")
