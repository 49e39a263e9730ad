"""The eight kinds of evidence that a result of the book can be.

Every figure, table and computed value has exactly one identity (`design` of the book: mechanism 1). The seal is
the two-character mark printed beside a result; `family` groups the seals by the kind of trust they ask for.
"""

from __future__ import annotations

from dataclasses import dataclass

from onesentence.evidence.kinds import checked_kind


@dataclass(frozen=True)
class Identity:
    """One kind of evidence.

    Attributes:
        key: the English name used in front matter, tags and `evidence.json`.
        seal: two Chinese characters, printed beside results.
        name: the Chinese name.
        meaning: one Chinese sentence: what a reader may conclude from it.
        family: `made` (set by hand), `run` (executed in this build) or `quoted` (from elsewhere or still to do).
    """

    key: str
    seal: str
    name: str
    meaning: str
    family: str


IDENTITIES: dict[str, Identity] = {
    identity.key: identity
    for identity in (
        Identity(
            "constructed", "构造", "教学构造", "数值由人设定，用来看清一步计算；没有训练过任何东西。", "made"
        ),
        Identity("mechanism", "机制", "机制验证", "本次构建里执行并检验的性质；没有训练。", "run"),
        Identity("trained", "本训", "本次训练", "本次构建里训练得到，附种子、步数与数据指纹。", "run"),
        Identity(
            "measured", "实测", "本机测量", "本次构建在这台机器上测得的时间或内存；换一台机器会变。", "run"
        ),
        Identity(
            "recorded", "存档", "存档记录", "本项目早先在注明的硬件上的运行，附日期、版本与提交。", "quoted"
        ),
        Identity("course", "原录", "课程原记录", "所依据课程自己的存档运行，本书没有重跑。", "quoted"),
        Identity("literature", "文献", "文献结果", "论文报告的数，注明版本与表号；本书没有重跑。", "quoted"),
        Identity("pending", "待行", "待执行设计", "只有设计，还没有执行，不能当作结果。", "quoted"),
    )
}
"""All identities by key, in the order in which they are explained to readers."""


def get_identity(key: str) -> Identity:
    """Return the identity called `key`.

    Raises:
        ValueError: if there is none, listing the known keys.

    Example:
        >>> get_identity("constructed").seal
        '构造'
    """
    return IDENTITIES[checked_kind(key)]
