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

/* On paper nothing can be unfolded: what is folded is printed open and folded again afterwards. */
let unfolded = [];
window.addEventListener("beforeprint", () => {
  unfolded = [...document.querySelectorAll("main details:not([open])")];
  unfolded.forEach((details) => { details.open = true; });
});
window.addEventListener("afterprint", () => unfolded.forEach((details) => { details.open = false; }));
