#!/usr/bin/env python3
"""Prints what pyarrow finds in the exported states of run folders: the folder, a name, a quantity and its value.

usage: read_pyarrow.py RUN ...   (check_readers.py exports them to RUN/export; exit code 3 without pyarrow)
"""

import pathlib
import sys

try:
    import pyarrow
    import pyarrow.compute
    import pyarrow.feather
except ImportError:
    sys.exit(3)

print("version", pyarrow.__version__, sep="\t")
for run in sys.argv[1:]:
    file = pathlib.Path(run) / "export" / "recycled.arrow"
    table = pyarrow.feather.read_table(file)
    table.validate(full=True)
    draws = len({(row["chain__"], row["iter__"]) for row in table.select(["chain__", "iter__"]).to_pylist()})
    print(run, "*", "recycled_per_draw", table.num_rows / draws, sep="\t")
    weights = pyarrow.compute.exp(table["log_weight__"])
    if abs(pyarrow.compute.sum(weights).as_py() - draws) > 1e-9 * draws:
        sys.exit(f"{file}: the weights of a draw do not sum to 1")
    if pyarrow.compute.max(table["slot__"]).as_py() != 8 or pyarrow.compute.min(table["slot__"]).as_py() != 1:
        sys.exit(f"{file}: slot__ does not go from 1 to 8")
    for name in table.column_names[4:]:
        # theta[1,2] is theta.1.2 in the heads of CSV files.
        plain = name.replace("[", ".").replace(",", ".").removesuffix("]")
        print(run, plain, "recycled_mean", repr(pyarrow.compute.mean(table[name]).as_py()), sep="\t")
