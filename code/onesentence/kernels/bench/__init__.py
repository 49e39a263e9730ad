"""Benchmarks of attention: cases, pinned backends, ceilings of the same machine, and the record that keeps them.

`python -m onesentence.kernels.bench` runs them; `kernels.bench.archive` reads what was run on a GPU elsewhere. A record
that was left in `_build/bench` is read and told like this:

    record = archive.read(Path("_build/bench/NAME.json").read_text())
    report.text(record), archive.about(record)["commit"], archive.rows(record)[0]["median"]
"""
