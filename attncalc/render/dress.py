"""The style sheet of the HTML page, as text, since a page must not load other files."""

from attncalc.render.html_values import WIDTHS

STYLE = """
.attncalc { color: var(--ink); line-height: 1.5; text-align: left; }
.attncalc h1, .attncalc h2, .attncalc h3, .attncalc h4 { line-height: 1.25; font-weight: 600; color: inherit; }
.attncalc h1 { font-size: 1.75rem; margin: 0 0 .25rem; }
.attncalc h2 { font-size: 1.15rem; margin: 2.5rem 0 1rem; padding-bottom: .3rem; border-bottom: 1px solid var(--line); }
.attncalc h3, .attncalc h4 { font-size: 1rem; margin: 0; }
.attncalc p { margin: .35rem 0; }
.attncalc section.step, .attncalc section > section { margin: 0 0 2.6rem; }
.attncalc section.judged { margin: 1.4rem 0 0; }
.attncalc section:has(> details:not([open])) { margin-bottom: .6rem; }
.attncalc .number { color: var(--faint); font-weight: 400; margin-right: .5rem; }
.attncalc .faint, .attncalc .why, .attncalc caption, .attncalc figcaption { color: var(--faint); }
.attncalc .why { font-style: italic; }
.attncalc .alarm { color: var(--alarm); font-weight: 600; }
.attncalc .remark {
  margin: .75rem 0; padding: .5rem .9rem; border-left: 3px solid var(--line); background: var(--tint);
}
.attncalc .warning { border-left-color: var(--alarm); }
.attncalc .formula { margin: .5rem 0; overflow-x: auto; overflow-y: hidden; padding: .15rem 0; }
.attncalc li { overflow-wrap: anywhere; }
.attncalc p.where { overflow-x: auto; overflow-y: hidden; }
.attncalc li .formula { display: inline-block; max-width: 100%; margin: 0; vertical-align: middle; }
.attncalc .sizes { color: var(--faint); display: inline-block; margin-left: .6rem; }
.attncalc .formula .sizes { margin-left: .35rem; }
.attncalc sub { line-height: 0; }
.attncalc .option { display: inline-block; }
.attncalc .whole { white-space: nowrap; }
.attncalc math {
  font-size: 1.12em; font-family: "STIX Two Math", "Cambria Math", "Latin Modern Math", "STIX Math", math;
}
.attncalc math.long, .attncalc .long > semantics, .attncalc .long > semantics > mrow {
  display: inline; line-height: 1.2; /* of a font's own some are five times as high as its letters */
}
.attncalc .long > semantics > mrow > mrow, .attncalc mrow.long > mrow {
  display: inline math; line-height: normal; padding-block: .1em;
}
.attncalc math.long mrow.long {
  display: inline-block; baseline-source: first; padding: 0 0 0 .8em; text-indent: -.8em; line-height: 1.2;
}
.attncalc p.formula { padding-left: 1.6em; text-indent: -1.6em; }
.attncalc p.formula > *, .attncalc math * { text-indent: 0; }
.attncalc p.formula > math { padding-block: .1em; }
.attncalc p.formula > math:has(msub mfrac), .attncalc math.long mrow:has(> msub mfrac) {
  padding-bottom: .4em; /* what a bracket around a fraction has below it reaches lower than the row */
}
.attncalc .letters, .attncalc .lettered > math { display: none; }
.attncalc .lettered > .letters { display: inline; overflow-wrap: anywhere; }
.attncalc msub > :last-child { position: relative; top: .12em; /* other fonts hardly lower it: meann */ }
.attncalc msub > mrow:has(> msub:only-child) + *, .attncalc msubsup > mrow:has(> msub:only-child) + * {
  padding-left: .3em; /* k_features of n=2 */
}
.attncalc mtable.cases mtd { text-align: left; padding-right: .8em; }
.attncalc .unseen {
  position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap;
}
.attncalc sup { line-height: 0; white-space: nowrap; }
.attncalc .worked > :has(sup), .attncalc .why:has(sup), .attncalc .lettered > .letters:has(sup) {
  line-height: 1.7; /* a row that goes on in another one has its powers between them */
}
.attncalc .caret { font-size: 0; /* of what stands above the line, for who copies it */ }
.attncalc .source { color: var(--faint); font-size: .85rem; max-width: 18rem; overflow-wrap: anywhere; }
.attncalc .worked { margin: .35rem 0; padding: 0; list-style: none; font-variant-numeric: tabular-nums; }
.attncalc .operands { display: flex; flex-wrap: wrap; align-items: flex-start; gap: 1.5rem 3.5rem; margin: 0 0 1rem; }
.attncalc .operands > div { max-width: 100%; }
.attncalc .stack { display: flex; flex-wrap: wrap; gap: .4rem 2.5rem; position: relative; }
.attncalc summary { cursor: pointer; list-style-position: outside; }
.attncalc summary h2, .attncalc summary h3, .attncalc summary .sizes { display: inline; }
.attncalc summary:has(h2) { border-bottom: 1px solid var(--line); margin: 2rem 0 1rem; padding-bottom: .3rem; }
.attncalc summary h2 { margin: 0; padding: 0; border: 0; }
.attncalc details:not([open]) > summary:has(h2) { margin: 1rem 0 .6rem; }
.attncalc figure { margin: .6rem 0 0; min-width: 0; }
.attncalc .scroll { overflow-x: auto; }
.attncalc table {
  border-collapse: collapse; margin: 0; font-size: .95rem; font-variant-numeric: tabular-nums; color: inherit;
}
.attncalc caption { text-align: left; font-size: .85rem; padding: 0 .65rem .1rem; white-space: nowrap; }
.attncalc thead, .attncalc tbody, .attncalc tr, .attncalc th, .attncalc td { border: 0; background: none; }
.attncalc th, .attncalc td { padding: .22rem .65rem; text-align: right; white-space: nowrap; }
.attncalc tr:has(> :nth-child(10)) > * { padding-inline: min(.45rem, 1.2vw); /* ten numbers fit */ }
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
.attncalc .result h2 { color: var(--accent); }
.attncalc .result summary:has(h2) { margin-top: 1rem; border: 0; }
.attncalc .result section:last-child { margin-bottom: 0; }
.attncalc .result tbody td, .attncalc .result .value strong { font-weight: 600; }
"""
"""For pages and notebooks alike, so every rule begins with `.attncalc`."""

SHADES = "".join(
    f".attncalc .{sign}{level} {{ {what}: color-mix(in srgb, var({color}) {7 * level}%, transparent); }}\n"
    for sign, what, color in (
        ("h", "background", "--share"),
        ("p", "background", "--above"),
        ("m", "--stripe", "--below"),
    )
    for level in range(1, 10)
)
"""The shades of shares, of positive and of negative numbers."""

PAPER = "".join(
    f"  .attncalc .w{width} > table {{ font-size: min(.95rem, calc(100cqi / {width})); }}\n" for width in WIDTHS
)
"""The type sizes on paper of tables that are wider than paper."""

COLOURS = ("#2f7fc4", "#d4691e", "#1d9a78", "#b0619b", "#b98a12", "#7a8794")
LINES = "".join(
    f".attncalc svg .line-{number} {{ stroke: {colour}; }}\n.attncalc svg .end-{number} {{ fill: {colour}; }}\n"
    for number, colour in enumerate(COLOURS)
)
"""The colours of curves and arrows, visible on white and on black pages."""

PAGE_STYLE = (
    """
:root {
  color-scheme: light dark;
  --paper: #fdfdfc; --tint: #f3f5f8; --ink: #1f2328; --faint: #5d6672; --line: #d8dce2;
  --accent: #0a5fa8; --alarm: #a8400a; --good: #1d6f58;
  --lit-0: #fbe6b5; --edge-0: #b87700; --lit-1: #c9ebdf; --edge-1: #007a58; --lit-2: #f3d9e7; --edge-2: #a34f7c;
  --share: #2f7fc4; --above: #2f7fc4; --below: #d4691e;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #14171b; --tint: #1c2127; --ink: #e3e6ea; --faint: #98a2ae; --line: #353b44;
    --accent: #79b8f5; --alarm: #f0a070; --good: #6fcfae;
    --lit-0: #4d3a0c; --edge-0: #e6a52e; --lit-1: #0d4234; --edge-1: #3fc79a; --lit-2: #4b2a3c; --edge-2: #e08ab8;
    --share: #3f8fd8; --above: #3f8fd8; --below: #d87a34;
  }
}
body { margin: 0; background: var(--paper); font: 1rem/1.5 system-ui, sans-serif; }
main.attncalc { max-width: 52rem; margin: 0 auto; padding: 2.5rem 1.5rem 6rem; }
html:has(.panel) { scroll-padding: 1rem 0 46vh; }
main.attncalc:has(> .panel:not([hidden])) { padding-bottom: 50vh; }
main.attncalc:has(.marks, .map) { max-width: 72rem; }
.attncalc [data-how] { cursor: default; scroll-margin: 5rem; }
.attncalc .pinned { box-shadow: 0 0 0 3px var(--accent); }
.attncalc .panel {
  position: fixed; z-index: 2; left: 0; right: 0; bottom: 0; max-height: 45vh; overflow: auto; box-sizing: border-box;
  padding: .6rem 3.5rem .7rem 1.2rem; background: var(--paper); border-top: 2px solid var(--accent);
  font-variant-numeric: tabular-nums; overflow-wrap: anywhere;
}
.attncalc .panel[hidden] { display: none; }
.attncalc .panel.high { top: 0; bottom: auto; border-top: 0; border-bottom: 2px solid var(--accent); }
.attncalc .how { display: block; font-weight: 600; }
.attncalc .from { display: flex; flex-wrap: wrap; gap: .2rem 2rem; align-items: flex-end; }
.attncalc .from .unseen { position: static; width: auto; height: auto; overflow: visible; clip-path: none; }
.attncalc .from .unseen { margin-right: .5rem; }
.attncalc .from td[data-how] { cursor: pointer; text-decoration: underline dotted; }
.attncalc .close { position: absolute; right: .7rem; top: .5rem; }
.attncalc .trail:empty, .attncalc .how:empty { display: none; }
.attncalc .trail button::after { content: " ←"; }
.attncalc .trail button:last-child::after { content: ""; }
.attncalc button, .attncalc input {
  font: inherit; font-size: .9rem; color: inherit; background: var(--tint); border: 1px solid var(--line);
  border-radius: 4px; padding: .2rem .6rem; min-height: 1.9rem;
}
.attncalc button { cursor: pointer; }
.attncalc button[aria-pressed=true] { background: var(--accent); color: var(--paper); }
.attncalc :is(button, a, summary, input, [tabindex]):focus-visible { outline: 2px solid var(--accent); }
.attncalc .tools { margin: .6rem 0; }
.attncalc .tools[hidden] { display: none; }
.attncalc .contents ol {
  list-style: none; display: flex; flex-wrap: wrap; gap: .25rem 1.1rem; margin: 1rem 0; padding: 0;
}
.attncalc a { color: var(--accent); }
.attncalc .contents .part a { font-weight: 600; }
.attncalc .contents summary { list-style-position: inside; }
.attncalc .contents details[open] { flex-basis: 100%; }
.attncalc .contents ol ol { margin: .2rem 0 .5rem 1.2rem; }
.attncalc .link { text-decoration: none; opacity: .75; }
.attncalc .link::before { content: "\\00a0\\00a0#"; /* never alone on a line */ }
.attncalc .link:hover, .attncalc .link:focus { opacity: 1; }
.attncalc :target { scroll-margin-top: 1rem; }
.attncalc td:target { outline: 3px solid var(--accent); }
"""
    + SHADES
    + """
.attncalc :where(td, .swatch):is(.m1, .m2, .m3, .m4, .m5, .m6, .m7, .m8, .m9) {
  --gap: color-mix(in srgb, var(--stripe) 45%, transparent);
  background: repeating-linear-gradient(-45deg, var(--stripe) 0 3px, var(--gap) 3px 4px);
}
.attncalc .covered { color: var(--faint); background: none; cursor: pointer; font-weight: 400; }
.attncalc .lit-0, .attncalc .lit-1, .attncalc .lit-2 { outline: 2px; outline-offset: -2px; border-radius: 3px; }
.attncalc .lit-0 { background: var(--lit-0); outline-style: solid; outline-color: var(--edge-0); }
.attncalc .lit-1 { background: var(--lit-1); outline-style: dashed; outline-color: var(--edge-1); }
.attncalc .lit-2 { background: var(--lit-2); outline-style: dotted; outline-color: var(--edge-2); }
.attncalc .at, .attncalc .at:focus {
  background: var(--accent); color: var(--paper); outline: 2px solid var(--accent); outline-offset: -2px;
  border-radius: 3px;
}
.attncalc.predicting :is(.worked, .chain, .picture, .scale, .remark, .alarm) { display: none; }
.attncalc .scale { font-size: .85rem; }
.attncalc .picture { margin: 1.5rem 0; }
.attncalc svg { display: block; max-width: 100%; height: auto; font-size: 13px; }
.attncalc svg text { fill: currentColor; }
.attncalc svg path { fill: none; stroke-width: 2; }
.attncalc svg .rule { stroke: var(--faint); stroke-width: 1; }
.attncalc svg .above { fill: var(--above); }
.attncalc svg .below { fill: var(--below); }
.attncalc svg .masked { fill: var(--tint); }
.attncalc svg .way { stroke: currentColor; stroke-width: 1.2; }
.attncalc svg .mark { fill: currentColor; stroke: var(--paper); }
"""
    + LINES
    + """
.attncalc .scroll, .attncalc p.formula {
  background:
    linear-gradient(90deg, var(--ground) 60%, transparent) 0 0 / 2rem 100% no-repeat local,
    linear-gradient(-90deg, var(--ground) 60%, transparent) 100% 0 / 2rem 100% no-repeat local,
    linear-gradient(90deg, var(--line), transparent) 0 0 / .7rem 100% no-repeat scroll,
    linear-gradient(-90deg, var(--line), transparent) 100% 0 / .7rem 100% no-repeat scroll;
}
@property --more { syntax: "<length>"; inherits: false; initial-value: 0px; }
@keyframes more { from, 95% { --more: 1.5rem; } to { --more: 0px; } }
@supports (animation-timeline: scroll()) {  /* shades lie above that background */
  .attncalc .scroll {
    animation: more linear; animation-timeline: scroll(self inline);
    mask-image: linear-gradient(90deg, #000 calc(100% - var(--more)), transparent);
  }
}
.attncalc .swatch { display: inline-block; width: 1.1em; height: .8em; }
.attncalc .map a { color: inherit; text-decoration: none; display: block; }
.attncalc .map td { padding: .15rem .4rem; font-size: .8rem; border: 1px solid var(--paper); }
.attncalc .map .word { white-space: nowrap; }
.attncalc .map .alarm { outline: 2px solid var(--alarm); outline-offset: -2px; }
.attncalc .map thead span { writing-mode: vertical-rl; transform: rotate(180deg); }
.attncalc .map thead th { text-align: center; vertical-align: bottom; }
.attncalc .marks th, .attncalc .marks td { text-align: left; white-space: normal; vertical-align: top; }
.attncalc .marks tbody tr > * { border-bottom: 1px solid var(--line); }
.attncalc .marks tbody th { color: inherit; border-right: 0; overflow-wrap: anywhere; min-width: 7rem; }
.attncalc .marks .right td:nth-of-type(1), .attncalc .marks .wrong td:nth-of-type(1) { white-space: nowrap; }
.attncalc .marks .right td:nth-of-type(1) { color: var(--good); }
.attncalc .marks .wrong td:nth-of-type(1) { color: var(--alarm); font-weight: 600; }
main.attncalc { --ground: var(--paper); }
.attncalc .result { --ground: var(--tint); }
.attncalc tbody th, .attncalc thead .axis[scope=col] { position: sticky; left: 0; background: var(--ground); }
@media (max-width: 40rem) {
  main.attncalc { padding: 1.5rem 1rem 5rem; }
  .attncalc summary { list-style-position: inside; }
  .attncalc .result { padding: .1rem .4rem 1rem; }
  .attncalc th, .attncalc td, .attncalc caption { padding-left: .3rem; padding-right: .3rem; }
  .attncalc thead .axis[scope=colgroup] { text-align: left; }
  .attncalc .marks td.long { min-width: 11rem; }
  .attncalc .marks td:not(.long) { white-space: nowrap; }
}
@media (min-width: 72rem) {
  main.attncalc:has(.passes) { max-width: 84rem; }
  .attncalc .passes { display: grid; grid-template-columns: minmax(0, 1fr) minmax(0, 1fr); gap: 0 2.5rem; }
}
@media (min-width: 82rem) {
  main.attncalc:has(> .panel):not(:has(.passes)) { margin: 0 30rem 0 max(1rem, calc((100% - 84rem) / 2)); }
  .attncalc:not(:has(.passes)) > .panel {
    left: auto; top: 0; width: 28rem; max-height: none; padding-top: 3rem; border-top: 0;
    border-left: 1px solid var(--line);
  }
}
@media (prefers-reduced-motion: no-preference) { html { scroll-behavior: smooth; } }
@media print {
  :root {
    --paper: #fff; --ink: #000; --faint: #444; --line: #999; --tint: #fff; --accent: #000; --alarm: #000;
    --good: #000;
  }
  main.attncalc { padding: 0; max-width: none; }
  .attncalc .scroll, .attncalc p.formula { background: none; mask-image: none; }
  .attncalc .step, .attncalc figure, .attncalc tr, .attncalc .operands > div { break-inside: avoid; }
  .attncalc :is(h1, h2, h3, caption, summary, .formula, .why, .instructions) { break-after: avoid; }
  .attncalc > section ~ p { break-before: avoid; }
  .attncalc .blank { box-sizing: border-box; height: 9mm; color: transparent; print-color-adjust: exact;
    background: linear-gradient(var(--ink), var(--ink)) 50% calc(100% - 1mm) / calc(100% - 3mm) 1px no-repeat; }
  .attncalc tr:not(:has(:nth-child(10))) > .blank { min-width: 21mm; }
  .attncalc p .blank { display: inline-block; min-width: 40mm; }
  .attncalc section.step, .attncalc section > section { margin-bottom: 1.4rem; }
  .attncalc .hint, .attncalc .tools, .attncalc .panel, .attncalc .link { display: none; }
  .attncalc .scroll, .attncalc .formula { overflow: visible; }
  .attncalc math.wide { font-size: .7em; }
  .attncalc :is(figure, .operands > div):has(.broad, .folded) { width: 100%; }
  .attncalc .broad { container-type: inline-size; }
  .attncalc .broad :is(td, th, caption) { padding: .2em .45em; font-size: inherit; }
  .attncalc .folded > table, .attncalc .folded :is(thead, tbody) { display: block; font-size: .6rem; }
  .attncalc .folded tr { display: flex; flex-wrap: wrap; border-bottom: 1px solid var(--line); }
  .attncalc .folded :is(td, th) { width: 6em; box-sizing: border-box; padding: .1em; white-space: normal; }
  .attncalc .folded :is(td, th) { overflow-wrap: anywhere; border: 0; }
"""
    + PAPER
    + """
  .attncalc details::details-content { content-visibility: visible; display: block; }
  .attncalc summary, .attncalc .contents summary { list-style: none; }
  .attncalc td, .attncalc .swatch { print-color-adjust: exact; }
}
"""
)

NOTEBOOK_STYLE = """
.attncalc {
  --paper: Canvas; --ink: currentColor; --faint: color-mix(in srgb, currentColor 68%, transparent);
  --line: color-mix(in srgb, currentColor 25%, transparent); --tint: color-mix(in srgb, currentColor 5%, transparent);
  --accent: color-mix(in srgb, currentColor 30%, #2f81d6); --alarm: color-mix(in srgb, currentColor 30%, #d9702f);
}
"""
"""A notebook's theme may differ from the system's, so its colours are those of the surrounding text."""
