"""The script of the HTML page, as text: it shows how an entry that is pointed at was made, back to the operands."""

from attncalc.render.html_values import LONG_POWER, POWER

SCRIPT = """
const page = document.querySelector("main.attncalc"), panel = page.querySelector(".panel");
const inside = name => panel.querySelector("." + name);
const [trail, asked, rule, how, from] = ["trail", "asked", "rule", "how", "from"].map(inside);
const question = asked.querySelector("span"), guess = asked.querySelector("input");
const marks = ["at", "lit-0", "lit-1", "lit-2"];
const MOST = 9;  // rows, and columns, of a copy: of a larger table only what lights up
const numbers = text => text ? text.split(",") : [];
const originals = new WeakMap(), covered = new Map();
let lit = [], current = null, pinned = false, path = [];

const mark = (cell, name) => { cell.classList.add(name); lit.push(cell); };
const dark = () => { for (const cell of lit) cell.classList.remove(...marks, "pinned"); lit = []; };
const place = cell => cell.dataset.how.split(" = ")[0];
const sources = cell => (cell.dataset.from ?? "").split(";").filter(Boolean).map(source => {
  const found = [];
  for (const block of source.split(" ")) {
    const [value, at] = block.split(":"), spans = numbers(at).map(span => span.split("-").map(Number));
    for (const other of page.querySelectorAll(`[data-value="${value}"] [data-at]`)) {
      const there = numbers(other.dataset.at).map(Number);
      if (spans.every(([first, last = first], axis) => first <= there[axis] && there[axis] <= last)) found.push(other);
    }
  }
  return found;
});

// What lights up is copied into the panel, so that it is in sight wherever the page has been scrolled to.
const copied = cells => {
  const parts = new Set(cells.map(cell => cell.closest("table") ?? cell.closest(".value")));
  for (const part of parts) {
    const copy = part.cloneNode(true), before = part.querySelectorAll("td, strong, span");
    copy.querySelectorAll("td, strong, span").forEach((cell, i) => originals.set(cell, before[i]));
    for (const named of copy.querySelectorAll("[id]")) named.removeAttribute("id");
    copy.removeAttribute("data-value");
    for (const cell of copy.querySelectorAll("[data-at]")) {
      delete cell.dataset.at;
      cell.removeAttribute("tabindex");
      if (cell.dataset.how && cells.includes(originals.get(cell))) cell.tabIndex = 0;
      else delete cell.dataset.how;
    }
    const rows = copy.tBodies?.[0].rows ?? [], chosen = [...copy.querySelectorAll(".lit-0, .lit-1, .lit-2")];
    const columns = new Set(chosen.map(cell => cell.cellIndex));
    if (rows.length > MOST) for (const row of [...rows]) if (!chosen.some(cell => row.contains(cell))) row.remove();
    if (rows.length && rows[0].cells.length > MOST && columns.size < MOST)
      for (const row of [copy.tHead.rows[1], ...rows])
        for (const cell of row.cells) cell.hidden = !columns.has(cell.cellIndex) && !cell.matches("[scope=row], .axis");
    from.append(copy);
  }
};
// The panel stands at the foot of the page, and above where it would cover what is pointed at.
const uncovered = cell => {
  panel.classList.remove("high");
  const [there, over] = [cell, panel].map(part => part.getBoundingClientRect());
  panel.classList.toggle("high", there.bottom > over.top && there.right > over.left && there.top > over.height);
};
const sign = said => Object.assign(document.createElement("span"), { className: "caret", textContent: said });
const raised = power => {
  const inside = power.replace(/^\\((.*)\\)$/, "$1"), bare = inside === power;
  const above = document.createElement("sup");
  above.append(sign(bare ? "^" : "^("), inside, sign(bare ? "" : ")"));
  return power.length > LONG_POWER ? "^" + power : above;
};
const tell = said => how.replaceChildren(...said.split(/POWER/).map((part, i) => i % 2 ? raised(part) : part));
const show = cell => {
  dark();
  current = cell;
  from.replaceChildren(); rule.replaceChildren(); trail.replaceChildren();
  asked.hidden = true;
  how.textContent = "";
  panel.hidden = !cell;
  if (!cell) return;
  path.forEach((step, i) => {
    const button = trail.appendChild(document.createElement("button"));
    button.type = "button"; button.textContent = place(step);
    button.addEventListener("click", () => { path.length = i + 1; show(step); });
  });
  if (covered.has(cell)) {
    mark(cell, "at");
    question.textContent = `What do you expect ${place(cell)} to be?`;
    guess.value = "";
    asked.hidden = false;
    return uncovered(cell);
  }
  const formula = cell.closest(".step")?.querySelector(".formula");
  if (formula) rule.append(formula.cloneNode(true));
  tell(cell.dataset.how);
  const found = sources(cell);
  found.forEach((cells, i) => cells.forEach(other => mark(other, `lit-${Math.min(i, 2)}`)));
  found.forEach(cells => copied(cells));
  mark(cell, "at");
  if (pinned) cell.classList.add("pinned");
  uncovered(cell);
};
const told = place => place?.closest?.("[data-how]") ?? null;
const pin = cell => { pinned = Boolean(cell); path = cell ? [cell] : []; show(cell); };
const reach = cell => {
  for (const other of (cell.closest("table") ?? cell.parentElement).querySelectorAll("[data-how]")) other.tabIndex = -1;
  cell.tabIndex = 0;
};
for (const stack of page.querySelectorAll(".stack, p.value")) {
  const cells = stack.querySelectorAll("[data-how]");
  if (!cells.length) continue;
  for (const cell of [...cells].reverse()) reach(cell);
  stack.addEventListener("pointerover", event => {
    const cell = told(event.target);
    if (!pinned && cell !== current && event.pointerType !== "touch") { path = cell ? [cell] : []; show(cell); }
  });
  stack.addEventListener("pointerleave", () => { if (!pinned) show(stack.querySelector("[data-how]:focus")); });
  stack.addEventListener("click", event => { const cell = told(event.target); if (cell) { pin(cell); ask(); } });
  stack.addEventListener("focusin", event => {
    if (!event.target.dataset.how) return;
    reach(event.target);
    path = [event.target]; pinned = false;
    show(event.target);
  });
  stack.addEventListener("focusout", event => {
    if (!pinned && !panel.contains(event.relatedTarget)) show(null);
  });
  stack.addEventListener("keydown", event => {
    const cell = told(event.target);
    if (event.key === "Escape") pin(null);
    if ((event.key === "Enter" || event.key === " ") && cell) {
      event.preventDefault();
      if (pinned && current === cell) return (from.querySelector("[tabindex]") ?? inside("close")).focus();
      pin(cell);
      return ask();
    }
    const ways = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };
    const way = ways[event.key], row = event.target.parentElement;
    if (!way || !row.parentElement.rows) return;
    const rows = [...row.parentElement.rows];
    let i = rows.indexOf(row), j = event.target.cellIndex, beside;
    do beside = rows[i += way[0]]?.cells[j += way[1]]; while (beside && !beside.dataset.how);
    if (!beside) return;
    beside.focus();
    event.preventDefault();
  });
}

// From an entry to those that it was made from, and so on; the trail leads back.
const deeper = event => {
  const cell = originals.get(event.target.closest("[data-how]"));
  if (!cell) return;
  pinned = true;
  path.push(cell);
  show(cell);
  (trail.lastElementChild ?? panel).focus();
};
from.addEventListener("click", deeper);
panel.addEventListener("keydown", event => {
  const back = path[0];
  if (event.key === "Escape") { back?.focus(); pin(null); }
  else if (event.key === "Enter" && event.target === guess) look();
  else if (event.key === "Enter" && from.contains(event.target)) deeper(event);
});
inside("close").addEventListener("click", () => { path[0]?.focus(); pin(null); });

// Predict first: values are covered until somebody has said what they expect.
const tool = name => page.querySelector(".tools ." + name);
const cover = cell => {
  covered.set(cell, [...cell.childNodes]);
  cell.replaceChildren("?");
  cell.classList.add("covered");
};
const uncover = cell => {
  cell.replaceChildren(...covered.get(cell));
  cell.classList.remove("covered");
  covered.delete(cell);
};
const ask = () => { if (!asked.hidden) guess.focus(); };
const look = () => {
  const cell = current, said = guess.value.trim().replace("−", "-").replace(",", ".");
  uncover(cell);
  const value = cell.textContent, number = Number(value.replace("−", "-")), off = Math.abs(Number(said) - number);
  cell.focus({ preventScroll: true });
  pinned = true;
  show(cell);
  const near = off <= 0.5 * 10 ** -(said.split(".")[1] ?? "").length;
  if (said) tell(`You said ${said}; it is ${value}${near ? ", right." : "."} ${how.textContent}`);
};
asked.querySelector(".look").addEventListener("click", look);
tool("predict")?.addEventListener("click", event => {
  const on = event.target.getAttribute("aria-pressed") !== "true";
  event.target.setAttribute("aria-pressed", on);
  pin(null);
  for (const cell of [...covered.keys()]) uncover(cell);
  page.classList.toggle("predicting", on);  // hides what tells a value beside its place
  if (on) for (const cell of page.querySelectorAll(".step :is(td:not(:empty, .gap), strong)")) cover(cell);
});
page.addEventListener("click", event => {
  const cell = event.target.closest(".covered:not([data-how])");  // of which nothing is told but the number
  if (covered.has(cell)) uncover(cell);
});

// Parts that fold; a link into one opens what is around it, and paper shows all.
const folds = () => [...page.querySelectorAll("details")];
tool("unfold")?.addEventListener("click", () => { for (const part of folds()) part.open = true; });
tool("fold")?.addEventListener("click", () => { for (const part of folds()) part.open = false; });
const follow = () => {
  let id = location.hash.slice(1);
  try { id = decodeURIComponent(id); } catch {}
  const target = document.getElementById(id);
  if (!target) return;
  for (let part = target; part; part = part.parentElement) if (part.tagName === "DETAILS") part.open = true;
  const own = target.firstElementChild;
  if (own?.tagName === "DETAILS") own.open = true;
  target.scrollIntoView();
  if (told(target) === target) { target.focus({ preventScroll: true }); pin(target); }
};
addEventListener("hashchange", follow);
addEventListener("beforeprint", () => {
  for (const part of folds()) { part.dataset.was = part.open; part.open = true; }
});
addEventListener("afterprint", () => { for (const part of folds()) part.open = part.dataset.was === "true"; });
follow();

// A formula that is wider than the page, whose fractions and cases no line can end in, is written in letters.
const fit = seen => {
  for (const { target } of seen) {
    target.classList.remove("lettered");
    target.classList.toggle("lettered", target.scrollWidth > target.clientWidth);
  }
};
const fitting = new ResizeObserver(seen => requestAnimationFrame(() => fit(seen)));
for (const letters of page.querySelectorAll(".letters")) fitting.observe(letters.parentElement);
for (const hidden of page.querySelectorAll(".hint, .tools")) hidden.hidden = false;
""".replace("LONG_POWER", str(LONG_POWER)).replace("POWER", POWER)
