"""What a cell of the book says about its own results: identities, ledger, guards.

A page calls `ledger.check`, `ledger.cite`, `guard` and `offer`. Each call leaves a record *inside the outputs of the
cell* (a private MIME type), so that the record survives the execution cache; the build collects them.
"""

from onesentence.evidence import ledger
from onesentence.evidence.files import offer
from onesentence.evidence.guards import GuardError, guard
from onesentence.evidence.ledger import LedgerError

__all__ = ["GuardError", "LedgerError", "guard", "ledger", "offer"]
