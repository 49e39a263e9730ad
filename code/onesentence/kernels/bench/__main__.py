"""`python -m onesentence.kernels.bench`: see `kernels.bench.command`."""

from onesentence.kernels.bench.command import main

if __name__ == "__main__":
    raise SystemExit(main())
