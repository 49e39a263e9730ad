"""What several seeds wrote for the same sentences, equal texts in one row."""

from __future__ import annotations

from collections.abc import Sequence

from onesentence.text.translation_corpus import Example


def written_alike(
    examples: Sequence[Example], written: Sequence[Sequence[str]], seeds: Sequence[int]
) -> list[tuple[str, str, bool, str]]:
    """Return rows (source, text, whether it is the reference, seeds that wrote it).

    Args:
        examples: sentences.
        written: per seed a text per sentence.
        seeds: their names.

    Raises:
        ValueError: if there is not a text of each sentence for each seed.

    Example:
        >>> from onesentence.text.parallel import pair_of
        >>> from onesentence.text.translation_config import TranslationConfig, running_events
        >>> event = running_events(TranslationConfig())["running"]
        >>> example, right = Example(event, pair_of(event)), "I gave him a book yesterday ."
        >>> for row in written_alike([example], [[right], ["I gave"], [right]], [0, 1, 2]):
        ...     print(row)
        ('我昨天给了他一本书。', 'I gave him a book yesterday .', True, '0、2')
        ('我昨天给了他一本书。', 'I gave', False, '1')
    """
    if len(written) != len(seeds) or any(len(texts) != len(examples) for texts in written):
        sizes = [len(texts) for texts in written]
        raise ValueError(
            f"written: expected {len(seeds)} lists of {len(examples)} texts, got lengths {sizes}"
        )
    rows = []
    for i, example in enumerate(examples):
        texts = [each[i] for each in written]
        for text in dict.fromkeys(texts):
            who = "、".join(str(seed) for seed, other in zip(seeds, texts, strict=True) if other == text)
            rows.append(("".join(example.source), text, text == " ".join(example.target), who))
    return rows
