/* Filters of the generated tables: a button shows the rows of one kind. Works from file:// and without a server. */
document.querySelectorAll(".index-filters").forEach((group) => {
  const region = group.nextElementSibling;
  group.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (!button) return;
    group.querySelectorAll("button").forEach((other) => other.setAttribute("aria-pressed", String(other === button)));
    const wanted = button.dataset.show;
    region.querySelectorAll("tbody tr").forEach((row) => {
      row.hidden = Boolean(wanted) && row.dataset.filter !== wanted;
    });
  });
});

/* A row of a generated table that is linked to must be seen, whatever the filter. */
function revealTarget() {
  const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (target && target.hidden) target.hidden = false;
}
window.addEventListener("hashchange", revealTarget);
revealTarget();

/* What the theme leaves without a name, with an English one or with a role that does not fit. */
for (const [place, name] of [
  [".primary-toggle", "展开或收起全书目录"],
  [".secondary-toggle", "展开或收起本页目录"],
  ['nav[aria-label="Main"]', "全书"],
  ['nav[aria-label="Page"]', "本页"],
]) {
  document.querySelectorAll(place).forEach((element) => {
    element.setAttribute("aria-label", name);
    for (const tip of ["title", "data-bs-original-title"]) {
      if (element.hasAttribute(tip)) element.setAttribute(tip, name);
    }
  });
}
document.querySelectorAll("nav details > summary").forEach((summary) => {
  const page = summary.closest("li")?.querySelector("a")?.textContent.trim() ?? "";
  summary.setAttribute("aria-label", `展开或收起：${page}`);
});
document.querySelectorAll(".citation-list, .citation").forEach((element) => element.removeAttribute("role"));

/* A table that is wider than its place shows at which edge there is more of it. */
function shadeEdges(place) {
  const hidden = place.scrollWidth - place.clientWidth;
  place.classList.toggle("more-left", place.scrollLeft > 1);
  place.classList.toggle("more-right", hidden - place.scrollLeft > 1);
}
const widths = new ResizeObserver((entries) => entries.forEach(({ target }) => {
  shadeEdges(target.closest(".table-scroll, .pst-scrollable-table-container"));
}));
document.querySelectorAll(".table-scroll, .pst-scrollable-table-container").forEach((place) => {
  place.addEventListener("scroll", () => shadeEdges(place), { passive: true });
  [place, ...place.querySelectorAll("table")].forEach((box) => widths.observe(box));
});

/* Copy buttons come from another script, whenever it is ready, with a drawing for a name and a half-width mark. */
function nameCopyButton(button) {
  button.setAttribute("aria-label", "复制这段代码");
  if (button.dataset.tooltip === "复制成功!") button.dataset.tooltip = "复制成功！";
  const title = button.querySelector("title");
  if (title && title.textContent === "复制成功!") title.textContent = "复制成功！";
}
const buttons = new MutationObserver(() => document.querySelectorAll(".copybtn").forEach(nameCopyButton));
document.querySelectorAll("article").forEach((article) => {
  buttons.observe(article, { subtree: true, childList: true, attributes: true, attributeFilter: ["data-tooltip"] });
  article.querySelectorAll(".copybtn").forEach(nameCopyButton);
});

/* On paper nothing can be unfolded: what is folded is printed open and folded again afterwards. */
let unfolded = [];
window.addEventListener("beforeprint", () => {
  unfolded = [...document.querySelectorAll("main details:not([open])")];
  unfolded.forEach((details) => { details.open = true; });
});
window.addEventListener("afterprint", () => unfolded.forEach((details) => { details.open = false; }));
