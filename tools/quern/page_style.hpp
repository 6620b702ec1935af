// SPDX-License-Identifier: BSL-1.0
// The style sheet of the pages that `quern` writes: light or dark as the reader's system is, tables
// and charts of one look. It goes into the page, which then needs nothing from anywhere.
#pragma once

namespace quern::tool {

inline constexpr const char* k_page_style = R"(:root {
  color-scheme: light dark;
  --page: #ffffff; --text: #1c2024; --soft: #5b6570; --line: #d5dae0; --band: #f3f5f8; --band2: #e9edf2;
  --link: #0b57b0; --good: #14703c; --bad: #b3261e;
  --c0: #0b6bcb; --c1: #c2410c; --c2: #15803d; --c3: #7e22ce; --c4: #a16207; --c5: #be185d;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #14171a; --text: #e6e9ec; --soft: #a2acb6; --line: #363d45; --band: #1a1e22; --band2: #20262b;
    --link: #7db7f5; --good: #6fd196; --bad: #ff9a91;
    --c0: #5aa9f8; --c1: #fb923c; --c2: #5fd08a; --c3: #c99bf5; --c4: #e5c15c; --c5: #f58ab8;
  }
}
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 1320px; padding: 1rem 1.5rem 4rem; background: var(--page); color: var(--text);
  font: 15px/1.5 system-ui, "DejaVu Sans", sans-serif; }
h1 { font-size: 1.7rem; margin: .5rem 0; }
h2 { font-size: 1.3rem; margin: 2.2rem 0 .5rem; border-bottom: 1px solid var(--line); }
h3 { font-size: 1.05rem; margin: 1.2rem 0 .2rem; }
p { margin: .3rem 0 .7rem; max-width: 80ch; }
code { font-size: .92em; background: var(--band); padding: .1em .3em; border-radius: 3px; }
.command { display: block; padding: .5em .7em; overflow-x: auto; white-space: pre; }
summary:focus-visible, .scroll:focus-visible { outline: 3px solid var(--link); outline-offset: 2px; }
.charts { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 560px), 1fr)); gap: .5rem 1rem; }
.scroll { overflow-x: auto; margin: .4rem 0 .8rem; }
table { border-collapse: collapse; font-size: .85rem; font-variant-numeric: tabular-nums; }
th, td { padding: .2rem .5rem; text-align: right; border-bottom: 1px solid var(--line); white-space: nowrap; }
thead th { border-bottom: 2px solid var(--line); vertical-align: bottom; color: var(--soft); font-weight: 600; }
tbody th { text-align: left; font-weight: 500; }
td.words, th.words { text-align: left; white-space: normal; }
tr.best td, tr.best th { font-weight: 700; background: var(--band); }
.soft { color: var(--soft); }
.good { color: var(--good); }
.bad { color: var(--bad); }
figure { margin: .4rem 0; }
figcaption { font-weight: 600; }
svg { display: block; max-width: 100%; height: auto; font: 12px system-ui, "DejaVu Sans", sans-serif; }
svg text { fill: var(--text); }
svg text.tick { fill: var(--soft); font-size: 11px; }
svg text.flag-name { font-size: 11px; }
svg .grid { stroke: var(--line); }
svg .zero { stroke: var(--soft); }
svg .flag { stroke: var(--soft); stroke-dasharray: 4 3; }
svg .region0 { fill: var(--band); }
svg .region1 { fill: var(--band2); }
svg .mark { stroke: var(--page); stroke-width: 1; }
svg .curve { fill: none; stroke-width: 2; }
svg .whisker { stroke-width: 1.5; }
svg .c0 { fill: var(--c0); } svg .c1 { fill: var(--c1); } svg .c2 { fill: var(--c2); }
svg .c3 { fill: var(--c3); } svg .c4 { fill: var(--c4); } svg .c5 { fill: var(--c5); }
svg .l0 { stroke: var(--c0); } svg .l1 { stroke: var(--c1); } svg .l2 { stroke: var(--c2); }
svg .l3 { stroke: var(--c3); } svg .l4 { stroke: var(--c4); } svg .l5 { stroke: var(--c5); }
details { margin: .6rem 0; }
summary { cursor: pointer; color: var(--link); }
)";

}  // namespace quern::tool
