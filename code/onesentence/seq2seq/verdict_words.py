"""What verdicts are called on the pages: Chinese names of explanations, observations, statuses and weights."""

from __future__ import annotations

from onesentence.seq2seq.diagnosis import Explanation, Observation, Status, Verdict

EXPLANATIONS: dict[Explanation, str] = {
    "search": "搜索错误",
    "model": "模型错误",
    "history": "自己的历史",
    "reading": "读取",
    "source": "源表示",
}
OBSERVATIONS: dict[Observation, str] = {
    "scores": "两句的分数",
    "beam": "束里的去向",
    "steps": "逐步概率",
    "first": "首错的位置",
    "weights": "权重",
    "hidden": "遮挡一处",
    "aimed": "只读该读处",
    "twin": "换一个源",
}
STATUSES: dict[Status, str] = {
    "established": "成立",
    "supported": "偏向",
    "undetermined": "未定",
    "weakened": "削弱",
    "excluded": "排除",
}
WEIGHTS: dict[int, str] = {2: "是", 1: "偏是", 0: "不明", -1: "偏否", -2: "否"}
SHORT: dict[Explanation, str] = {
    "search": "搜索",
    "model": "模型",
    "history": "历史",
    "reading": "读取",
    "source": "源",
}
"""For the heads of tables."""


def statuses(verdict: Verdict) -> list[str]:
    """Return what each explanation has come to, in the order of `EXPLANATIONS`.

    Example:
        >>> from onesentence.seq2seq.diagnosis import diagnose
        >>> from onesentence.seq2seq.observed import Observations
        >>> verdict = diagnose(Observations(("她",), ("her", "EOS"), ("him", "EOS"), log_p=(-6.4, -8.2)))
        >>> statuses(verdict)
        ['成立', '排除', '排除', '未定', '未定']
        >>> evidence(verdict)[1]
        ('两句的分数', '搜索错误', '是')
        >>> missing(verdict)
        '读取还缺只读该读处、遮挡一处、权重；源表示还缺换一个源、只读该读处'
    """
    return [STATUSES[verdict.status(name)] for name in EXPLANATIONS]


def evidence(verdict: Verdict) -> list[tuple[str, str, str]]:
    """Return rows of a table: observation, explanation, what the one says of the other."""
    return [
        (OBSERVATIONS[e.observation], EXPLANATIONS[e.explanation], WEIGHTS[e.weight])
        for e in verdict.evidence
    ]


def missing(verdict: Verdict) -> str:
    """Return in a sentence what nobody has looked at for the explanations that are undetermined."""
    lacks = {
        EXPLANATIONS[name]: "、".join(OBSERVATIONS[o] for o in lack) or "别的观察"
        for name, lack in verdict.missing.items()
    }
    return "；".join(f"{name}还缺{lack}" for name, lack in lacks.items())


def contrary(verdict: Verdict) -> str:
    """Return in a sentence which observations point the other way than what settled an explanation.

    Example:
        >>> from onesentence.seq2seq.diagnosis import diagnose
        >>> from onesentence.seq2seq.observed import Observations, StepSeen
        >>> read = {"wanted": (1,), "weights": (0.1, 0.9), "aimed": StepSeen("y", 0.8, 0.8)}
        >>> contrary(diagnose(Observations(("s", "t"), ("x", "y"), ("x", "z"), **read)))
        '读取成立，相反的提示：权重'
    """
    against = {name: verdict.contrary(name) for name in EXPLANATIONS}
    return "；".join(
        f"{EXPLANATIONS[name]}{STATUSES[verdict.status(name)]}，相反的提示：{'、'.join(OBSERVATIONS[o] for o in seen)}"
        for name, seen in against.items()
        if seen
    )
