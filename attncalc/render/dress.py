"""The style sheet and the script of the HTML page, as text: a page fetches nothing."""

STYLE = """
.attncalc { color: var(--ink); line-height: 1.5; text-align: left; }
.attncalc h1, .attncalc h2, .attncalc h3 { line-height: 1.25; font-weight: 600; color: inherit; }
.attncalc h1 { font-size: 1.75rem; margin: 0 0 .25rem; }
.attncalc h2 { font-size: 1.15rem; margin: 2.5rem 0 1rem; padding-bottom: .3rem; border-bottom: 1px solid var(--line); }
.attncalc h3 { font-size: 1rem; margin: 0; }
.attncalc p { margin: .35rem 0; }
.attncalc section > section { margin: 0 0 2.6rem; }
.attncalc .number { color: var(--faint); font-weight: 400; margin-right: .5rem; }
.attncalc .faint, .attncalc .why, .attncalc caption, .attncalc figcaption { color: var(--faint); }
.attncalc .why { font-style: italic; }
.attncalc .alarm { color: var(--alarm); font-weight: 600; }
.attncalc .remark {
  margin: .75rem 0; padding: .5rem .9rem; border-left: 3px solid var(--line); background: var(--tint);
}
.attncalc .warning { border-left-color: var(--alarm); }
.attncalc .formula { margin: .5rem 0; overflow-x: auto; overflow-y: hidden; padding: .15rem 0; }
.attncalc .sizes { color: var(--faint); display: inline-block; margin-left: .6rem; }
.attncalc .formula .sizes { margin-left: .35rem; }
.attncalc sub { line-height: 0; }
.attncalc math { font-size: 1.12em; }
.attncalc mtable.cases mtd { text-align: left; padding-right: .8em; }
.attncalc .unseen {
  position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap;
}
.attncalc .source { color: var(--faint); font-size: .85rem; max-width: 18rem; overflow-wrap: anywhere; }
.attncalc .worked { margin: .35rem 0; padding: 0; list-style: none; font-variant-numeric: tabular-nums; }
.attncalc .operands { display: flex; flex-wrap: wrap; align-items: flex-start; gap: 1.5rem 3.5rem; margin: 0 0 1rem; }
.attncalc .operands > div { max-width: 100%; }
.attncalc .stack { display: flex; flex-wrap: wrap; gap: .4rem 2.5rem; position: relative; }
.attncalc figure { margin: .6rem 0 0; min-width: 0; }
.attncalc .scroll { overflow-x: auto; }
.attncalc table {
  border-collapse: collapse; margin: 0; font-size: .95rem; font-variant-numeric: tabular-nums; color: inherit;
}
.attncalc caption { text-align: left; font-size: .85rem; padding: 0 .65rem .1rem; white-space: nowrap; }
.attncalc thead, .attncalc tbody, .attncalc tr, .attncalc th, .attncalc td { border: 0; background: none; }
.attncalc th, .attncalc td { padding: .22rem .65rem; text-align: right; white-space: nowrap; }
.attncalc th { font-weight: 400; color: var(--faint); }
.attncalc th.label { white-space: normal; overflow-wrap: break-word; max-width: 16ch; }
.attncalc thead tr:last-child > * { border-bottom: 1px solid var(--line); }
.attncalc tbody th { border-right: 1px solid var(--line); }
.attncalc .axis { font-style: italic; }
.attncalc thead .axis[scope=colgroup] { text-align: center; }
.attncalc .wide thead .axis[scope=colgroup] { text-align: left; }
.attncalc .gap { color: var(--faint); text-align: center; }
.attncalc .value { font-variant-numeric: tabular-nums; overflow-wrap: anywhere; }
.attncalc .result {
  margin-top: 2.5rem; padding: .1rem 1.4rem 1.4rem; background: var(--tint); border-left: 3px solid var(--accent);
}
.attncalc .result h2 { margin-top: 1.2rem; border: 0; padding: 0; color: var(--accent); }
.attncalc .result section:last-child { margin-bottom: 0; }
.attncalc .result tbody td, .attncalc .result .value strong { font-weight: 600; }
"""
"""For a page and for a notebook alike, so every rule begins with `.attncalc`."""

PAGE_STYLE = """
:root {
  color-scheme: light dark;
  --paper: #fdfdfc; --tint: #f3f5f8; --ink: #1f2328; --faint: #5d6672; --line: #d8dce2;
  --accent: #0a5fa8; --alarm: #a8400a; --good: #1d6f58;
  --lit-0: #fbe6b5; --edge-0: #b87700; --lit-1: #c9ebdf; --edge-1: #007a58; --lit-2: #f3d9e7; --edge-2: #a34f7c;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #14171b; --tint: #1c2127; --ink: #e3e6ea; --faint: #98a2ae; --line: #353b44;
    --accent: #79b8f5; --alarm: #f0a070; --good: #6fcfae;
    --lit-0: #4d3a0c; --edge-0: #e6a52e; --lit-1: #0d4234; --edge-1: #3fc79a; --lit-2: #4b2a3c; --edge-2: #e08ab8;
  }
}
body { margin: 0; background: var(--paper); font: 1rem/1.5 system-ui, sans-serif; }
main.attncalc { max-width: 52rem; margin: 0 auto; padding: 2.5rem 1.5rem 6rem; }
main.attncalc:has(.marks) { max-width: 72rem; }
.attncalc [data-how] { cursor: default; scroll-margin: 5rem; }
.attncalc .lit-0, .attncalc .lit-1, .attncalc .lit-2 { outline: 2px; outline-offset: -2px; border-radius: 3px; }
.attncalc .lit-0 { background: var(--lit-0); outline-style: solid; outline-color: var(--edge-0); }
.attncalc .lit-1 { background: var(--lit-1); outline-style: dashed; outline-color: var(--edge-1); }
.attncalc .lit-2 { background: var(--lit-2); outline-style: dotted; outline-color: var(--edge-2); }
.attncalc .at, .attncalc .at:focus {
  background: var(--accent); color: var(--paper); outline: 2px solid var(--accent); outline-offset: -2px;
  border-radius: 3px;
}
.attncalc p.value { position: relative; }
.attncalc .how {
  position: absolute; z-index: 1; left: 0; margin-top: .3rem; max-width: 100%; box-sizing: border-box;
  padding: .35rem .7rem; background: var(--paper); border: 1px solid var(--accent); border-radius: 4px;
  font-variant-numeric: tabular-nums; overflow-wrap: anywhere;
}
.attncalc .how:empty { display: none; }
.attncalc .marks th, .attncalc .marks td { text-align: left; white-space: normal; vertical-align: top; }
.attncalc .marks tbody tr > * { border-bottom: 1px solid var(--line); }
.attncalc .marks tbody th { color: inherit; border-right: 0; overflow-wrap: anywhere; min-width: 5rem; }
.attncalc .marks td:nth-of-type(1) { white-space: nowrap; }
.attncalc .marks .right td:nth-of-type(1) { color: var(--good); }
.attncalc .marks .wrong td:nth-of-type(1) { color: var(--alarm); font-weight: 600; }
main.attncalc { --ground: var(--paper); }
.attncalc .result { --ground: var(--tint); }
.attncalc tbody th, .attncalc thead .axis[scope=col] { position: sticky; left: 0; background: var(--ground); }
@media (max-width: 40rem) {
  main.attncalc { padding: 1.5rem 1rem 5rem; }
  .attncalc .result { padding: .1rem 1rem 1rem; }
  .attncalc thead .axis[scope=colgroup] { text-align: left; }
  .attncalc .marks td:last-child { min-width: 12rem; }
}
@media print {
  :root {
    --paper: #fff; --ink: #000; --faint: #444; --line: #999; --tint: #fff; --accent: #000; --alarm: #000;
    --good: #000;
  }
  main.attncalc { padding: 0; max-width: none; }
  .attncalc section > section { break-inside: avoid; }
  .attncalc .hint, .attncalc .how { display: none; }
}
"""

NOTEBOOK_STYLE = """
.attncalc {
  --paper: Canvas; --ink: currentColor; --faint: color-mix(in srgb, currentColor 68%, transparent);
  --line: color-mix(in srgb, currentColor 25%, transparent); --tint: color-mix(in srgb, currentColor 5%, transparent);
  --accent: color-mix(in srgb, currentColor 30%, #2f81d6); --alarm: color-mix(in srgb, currentColor 30%, #d9702f);
}
"""
"""A notebook's theme need not be the system's, so its colours are those of the text around it."""

SCRIPT = """
const page = document.querySelector(".attncalc");
const marks = ["at", "lit-0", "lit-1", "lit-2"];
const mark = (cell, name) => { cell.classList.add(name); lit.push(cell); };
const numbers = text => text ? text.split(",") : [];
let lit = [];
const dark = () => { for (const cell of lit) cell.classList.remove(...marks); lit = []; };
const light = cell => {
  dark();
  (cell.dataset.from ?? "").split(";").forEach((source, i) => {
    for (const block of source.split(" ")) {
      const [value, place] = block.split(":"), spans = numbers(place).map(span => span.split("-").map(Number));
      for (const other of page.querySelectorAll(`[data-value="${value}"] [data-at]`)) {
        const at = numbers(other.dataset.at).map(Number);
        const inside = spans.every(([first, last = first], axis) => first <= at[axis] && at[axis] <= last);
        if (inside) mark(other, `lit-${Math.min(i, 2)}`);
      }
    }
  });
  mark(cell, "at");
};
for (const stack of page.querySelectorAll(".stack, p.value")) {
  const cells = stack.querySelectorAll("[data-how]");
  if (!cells.length) continue;
  const how = stack.appendChild(document.createElement("output"));
  how.className = "how";
  let current = null;
  const show = place => {
    const cell = place?.closest("[data-how]") ?? null;
    if (cell === current || how.contains(place)) return;
    current = cell;
    how.textContent = cell ? cell.dataset.how : "";
    if (!cell) return dark();
    light(cell);
    const around = cell.closest("figure");
    if (around) how.style.top = `${around.offsetTop + around.offsetHeight}px`;
  };
  const reach = cell => {
    for (const other of (cell.closest("table") ?? stack).querySelectorAll("[data-how]")) other.tabIndex = -1;
    cell.tabIndex = 0;
  };
  for (const cell of [...cells].reverse()) reach(cell);
  stack.addEventListener("pointerover", event => show(event.target));
  stack.addEventListener("pointerleave", () => show(stack.querySelector("[data-how]:focus")));
  stack.addEventListener("focusin", event => {
    if (event.target.dataset.how) reach(event.target);
    show(event.target);
  });
  stack.addEventListener("focusout", () => show(null));
  stack.addEventListener("keydown", event => {
    if (event.key === "Escape") show(null);
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
for (const hint of page.querySelectorAll(".hint")) hint.hidden = false;
"""
"""Pointing at an entry, or walking to it, shows how it was made and lights the entries that it was made from."""
