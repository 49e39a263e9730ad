/* The search page. `bookIndex` (searchindex.js, written by bookkit/search.py) holds the printed text of every
   section; the query is looked up in it as it stands. Text and query go through the same functions, `tidy` and `fold`.
   Words with spaces between them must all be on the page. Works from file:// and asks for nothing else. */
"use strict";

var BookSearch = (() => {
  const HAN = "[\\u2e80-\\u9fff\\uff00-\\uffef]";
  const GAPS = new RegExp(` (?=\\n|${HAN})|(?<=^|\\n|${HAN}) | $`, "g");
  const ALIKE = {"′": "'", "’": "'", "‘": "'", "`": "'", "“": '"', "”": '"', "−": "-", "–": "-", "∶": ":"};
  const SHOWN = 100;

  /* One space between Latin words, none beside Chinese: the layout draws that gap, nobody types it. */
  const tidy = (text) =>
    text.replace(/[\u200b-\u200f\u2060-\u2064\ufeff]/g, "").replace(/[^\S\n]+/g, " ").replace(GAPS, "");

  /* Case and width do not matter: （ is (, Ａ is a. Every character keeps its place, so that matches can be marked. */
  const foldOne = (char) => {
    const plain = ALIKE[char] || char.normalize("NFKC").toLowerCase();
    return plain.length === char.length ? plain : char;
  };
  const fold = (text) => text.replace(/[A-Z]+/g, (word) => word.toLowerCase())
    .replace(/[^\x00-\x7f\u3400-\u9fff]|`/gu, foldOne);

  /* Letters and digits alone, for who types 分数权重 where 分数、权重 is printed. */
  const bare = (folded) => folded.replace(/[^\p{L}\p{N}\n]/gu, "");

  const escape = (text) => text.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&");

  /* Latin is found at the start of a word, and as a whole word if it is short; Chinese anywhere. */
  const pattern = (term) => {
    const start = /^[a-z0-9]/.test(term) ? "(?<![a-z0-9])" : "";
    const end = term.length < 3 && /[a-z0-9]$/.test(term) ? "(?![a-z0-9])" : "";
    return start + escape(term) + end;
  };

  /* How a term is found: as it stands; e_{ij} as e_ij and eij too, as code and formulas have it; Chinese without its punctuation. */
  const finder = (term) => {
    const name = term.replace(/[\\${}]/g, ""), formula = name.replace(/[_^]/g, "");
    const ways = [...new Set([term, name, formula])].filter(Boolean);
    return {
      exact: new RegExp(ways.map(pattern).join("|"), "u"),
      bare: new RegExp(HAN, "u").test(term) ? bare(term) : "",
      length: term.length,
    };
  };

  const prepare = (index) => index.map(([address, sections]) => ({
    address,
    title: sections.length ? sections[0][1] : address,
    sections: sections.map(([anchor, title, raw]) => {
      const text = tidy(raw), name = fold(tidy(title)), folded = fold(text);
      return {anchor, title, text, name, folded, bareName: bare(name), bareText: bare(folded)};
    }),
  }));

  /* 0 where the section lacks it; more where it stands in the heading, and where it stands exactly so. */
  const worth = (section, sought) => {
    if (sought.exact.test(section.name)) return section.name.length === sought.length ? 40 : 20;
    if (sought.exact.test(section.folded)) return 8;
    if (sought.bare.length < 2) return 0;
    if (section.bareName.includes(sought.bare)) return section.bareName === sought.bare ? 30 : 10;
    return section.bareText.includes(sought.bare) ? 4 : 0;
  };

  /* The sections of one page that hold most of the terms, if the page holds them all. */
  const findOnPage = (page, terms, phrase) => {
    const missing = new Set(terms);
    let most = 0, found = [];
    for (const section of page.sections) {
      const values = terms.map((term) => worth(section, term));
      const held = values.filter(Boolean).length;
      terms.forEach((term, i) => values[i] && missing.delete(term));
      if (!held || held < most) continue;
      if (held > most) [most, found] = [held, []];
      const score = 3 * worth(section, phrase) + values.reduce((a, b) => a + b) / terms.length;
      found.push({page, section, score});
    }
    return missing.size ? [] : found;
  };

  let pages = null;

  /* The sections that a query finds, the best first, in the order of the book where they are equal. */
  const find = (query, index = bookIndex) => {
    if (pages === null || pages.index !== index) pages = Object.assign(prepare(index), {index});
    const plain = (text) => fold(tidy(text.replace(/\s+/g, " ").trim()));
    const terms = [...new Set(query.split(/\s+/).map(plain))].filter(Boolean).map(finder);
    if (!terms.length) return [];
    const phrase = finder(plain(query));
    return pages.flatMap((page) => findOnPage(page, terms, phrase))
      .sort((a, b) => b.score - a.score)
      .map(({page, section}) => ({
        address: page.address + (section.anchor && `#${section.anchor}`),
        title: section.anchor ? `${page.title} › ${section.title}` : page.title,
        ...excerpt(section, [phrase, ...terms]),
      }));
  };

  /* Where the bare term stands in the text itself: from, to. */
  const bareRange = (section, term) => {
    const at = section.bareText.indexOf(term);
    if (term.length < 2 || at < 0) return null;
    let seen = 0, from = -1, offset = 0;
    for (const char of section.folded) {
      if (bare(char)) {
        if (from < 0 && seen === at) from = offset;
        seen += char.length;
        if (seen >= at + term.length) return [from, offset + char.length];
      }
      offset += char.length;
    }
    return null;
  };

  /* A stretch of the text around the first of the sought that stands in it: before, match, after. */
  const excerpt = (section, sought) => {
    let range = null;
    for (const one of sought) {
      const match = one.exact.exec(section.folded);
      range = match ? [match.index, match.index + match[0].length] : bareRange(section, one.bare);
      if (range) break;
    }
    const [from, to] = range || [0, 0];
    const start = Math.max(0, from - 36), stop = Math.min(section.text.length, to + 84);
    const line = (a, b) => section.text.slice(a, b).replace(/\n/g, " ");
    return {
      before: (start > 0 ? "…" : "") + line(start, from),
      match: line(from, to),
      after: line(to, stop) + (stop < section.text.length ? "…" : ""),
    };
  };

  const add = (parent, tag, text = "", kind = "") => {
    const element = parent.appendChild(document.createElement(tag));
    element.textContent = text;
    if (kind) element.className = kind;
    return element;
  };

  const summary = (query, found) => {
    if (!found.length) return `没有找到“${query}”。可以换一个词，或者少写几个字。`;
    const count = new Set(found.map((one) => one.address.split("#")[0])).size;
    const shown = found.length > SHOWN ? `，列出前${SHOWN}处` : "";
    return `在${count}页里找到${found.length}处${shown}。`;
  };

  /* Look a query up and show the results in place of earlier ones. */
  const performSearch = (query) => {
    const out = document.getElementById("search-results");
    const found = find(query);
    out.replaceChildren();
    add(out, "h2", "搜索结果");
    add(out, "p", summary(query.trim(), found), "search-summary").setAttribute("role", "status");
    const list = add(out, "ul", "", "search");
    for (const one of found.slice(0, SHOWN)) {
      const item = add(list, "li");
      add(item, "a", one.title).href = one.address;
      const context = add(item, "p", one.before, "context");
      if (one.match) add(context, "mark", one.match);
      context.append(one.after);
    }
    return found;
  };

  const start = () => {
    const query = new URLSearchParams(location.search).get("q") || "";
    document.querySelectorAll('input[name="q"]').forEach((input) => { input.value = query; });
    if (query.trim()) performSearch(query);
  };

  return {tidy, fold, bare, find, performSearch, start};
})();

if (typeof document !== "undefined") BookSearch.start();
