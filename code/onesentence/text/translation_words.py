"""The words of the translation corpus: twelve people, six verbs, five numbers, twenty things, seven times.

Chosen so that every combination can be said in both languages and has one English wording:

* The verbs are compounds with 给, each with an English verb of two objects. Bare 借 (lend or borrow) and 给…看 (show,
  where 给 gives nothing away) are left out.
* 你们 is left out, since English would not tell it from 你; so is 她们, which would be they once more.
* The things last, so that they can be lent; none is a pair or a mass, so that one and five of them can be counted.

Everything is set by hand (identity `constructed`).
"""

from __future__ import annotations

from onesentence.text.giving import PEOPLE, Number, Person, Thing, Time, Verb

NAMES: tuple[Person, ...] = tuple(
    Person(zh, en, en)
    for zh, en in (
        ("张明", "Zhang Ming"),
        ("李华", "Li Hua"),
        ("小红", "Xiaohong"),
        ("王芳", "Wang Fang"),
        ("玛丽", "Mary"),
        ("汤姆", "Tom"),
    )
)
"""People whose names have one form, as giver and as recipient."""

CAST: tuple[Person, ...] = (*PEOPLE, *NAMES)
"""Six pronouns and six names."""

TRANSFERS: tuple[Verb, ...] = (
    Verb("给", "gave", "give"),
    Verb("借给", "lent", "lend"),
    Verb("卖给", "sold", "sell"),
    Verb("寄给", "sent", "send"),
    Verb("带给", "brought", "bring"),
    Verb("递给", "handed", "hand"),
)

NUMBERS: tuple[Number, ...] = (
    Number("一"),
    Number("两", "two"),
    Number("三", "three"),
    Number("四", "four"),
    Number("五", "five"),
)

GOODS: tuple[Thing, ...] = (
    Thing("书", "本", "a", "book", "books"),
    Thing("词典", "本", "a", "dictionary", "dictionaries"),
    Thing("杂志", "本", "a", "magazine", "magazines"),
    Thing("相册", "本", "an", "album", "albums"),
    Thing("笔", "支", "a", "pen", "pens"),
    Thing("铅笔", "支", "a", "pencil", "pencils"),
    Thing("伞", "把", "an", "umbrella", "umbrellas"),
    Thing("钥匙", "把", "a", "key", "keys"),
    Thing("吉他", "把", "a", "guitar", "guitars"),
    Thing("地图", "张", "a", "map", "maps"),
    Thing("照片", "张", "a", "photo", "photos"),
    Thing("手机", "部", "a", "phone", "phones"),
    Thing("相机", "部", "a", "camera", "cameras"),
    Thing("手表", "块", "a", "watch", "watches"),
    Thing("帽子", "顶", "a", "hat", "hats"),
    Thing("外套", "件", "a", "coat", "coats"),
    Thing("毛衣", "件", "a", "sweater", "sweaters"),
    Thing("围巾", "条", "a", "scarf", "scarves"),
    Thing("毯子", "条", "a", "blanket", "blankets"),
    Thing("杯子", "个", "a", "cup", "cups"),
)

OCCASIONS: tuple[Time, ...] = (
    Time("昨天", "yesterday", True),
    Time("昨晚", "last night", True),
    Time("上周", "last week", True),
    Time("今天", "today", True),
    Time("明天", "tomorrow", False),
    Time("今晚", "tonight", False),
    Time("下周", "next week", False),
)
"""今天 counts as past here, with 了; 今晚 as future, with 会."""
