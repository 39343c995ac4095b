"""How the page looks: one sheet, light and dark, for desks and hands, without anything to load."""

from __future__ import annotations

STYLE = """
:root { color-scheme: light dark;
  --paper:#f6f7f9; --card:#fff; --ink:#1c2026; --muted:#667080; --rule:#e3e6eb; --edge:#e3e6eb;
  --first:#2563c9; --second:#d9730d; --good:#178a4c; --bad:#c6373c; --warn:#b7791f;
  --busy:#5b8def; --idle:#ffffff; --was:#9aa3b2; --shadow:0 1px 2px rgb(20 30 50 / .06); }
@media (prefers-color-scheme: dark) { :root {
  --paper:#121418; --card:#1b1e24; --ink:#e8eaee; --muted:#949dab; --rule:#2c313a; --edge:#2a2f38;
  --first:#6ea2ff; --second:#f2a65a; --good:#4cc38a; --bad:#f2777a; --warn:#e0b04c;
  --busy:#3f6fd0; --idle:#1b1e24; --was:#7c8696; --shadow:none; } }
* { box-sizing:border-box }
body { margin:0; background:var(--paper); color:var(--ink); font:15px/1.5 system-ui,-apple-system,
  "Segoe UI",Roboto,"Helvetica Neue",sans-serif; -webkit-text-size-adjust:100% }
main { max-width:1080px; margin:0 auto; padding:32px 20px 60px }
h1 { font-size:15px; font-weight:600; margin:0; overflow-wrap:anywhere }
h2 { font-size:20px; font-weight:650; margin:0 0 2px; letter-spacing:-.01em }
h3 { font-size:16px; font-weight:600; margin:0 0 4px }
header { margin-bottom:20px } header p { margin:0; color:var(--muted) }
section { background:var(--card); border:1px solid var(--edge); border-radius:14px;
  padding:22px 24px; margin:0 0 18px; box-shadow:var(--shadow) }
section > p { margin:0 0 14px; color:var(--muted); max-width:74ch }
small, .tick { font-size:12px } .none, .muted { color:var(--muted) }
.hero { display:grid; grid-template-columns:auto 1fr; gap:8px 36px; align-items:center }
.hero .from-to { font-size:58px; font-weight:700; letter-spacing:-.035em; line-height:1.05;
  white-space:nowrap }
.hero .from-to i { font-style:normal; color:var(--was) } .hero .from-to b { color:var(--first) }
.hero .from-to span { color:var(--muted); font-weight:300; padding:0 .12em; letter-spacing:0 }
.hero p { margin:0; color:var(--muted); max-width:60ch }
.tiles { display:grid; grid-template-columns:repeat(auto-fit,minmax(128px,1fr)); gap:12px;
  margin:0 0 18px; padding:0; list-style:none }
.tiles li { background:var(--card); border:1px solid var(--edge); border-radius:12px;
  padding:12px 14px; box-shadow:var(--shadow) }
.tiles b { display:block; font-size:22px; font-weight:650; letter-spacing:-.02em }
.tiles span { color:var(--muted); font-size:13px }
svg { display:block; max-width:100%; height:auto; overflow:visible }
svg text { font-family:inherit } svg .tick { fill:var(--muted) }
svg .grid { stroke:var(--rule) } svg .rule { fill:var(--rule) }
svg .line { fill:none; stroke-width:2.2; stroke-linejoin:round; stroke-linecap:round }
svg .raw { fill:none; stroke:var(--first); stroke-opacity:.28; stroke-width:1 }
svg .line.first { stroke:var(--first) } svg .band.first { fill:var(--first); fill-opacity:.15 }
svg .whisker { stroke:var(--second); stroke-width:2 }
svg circle.second { fill:var(--second); stroke:var(--card); stroke-width:1.5 }
svg .bar { fill:var(--first) } svg rect.second { fill:var(--second) }
svg circle.was { fill:var(--was); stroke:var(--card); stroke-width:1.5 }
svg circle.is { fill:var(--first); stroke:var(--card); stroke-width:1.5 }
svg .span { stroke-width:6; stroke-opacity:.3; stroke-linecap:round }
svg .span.was { stroke:var(--was) } svg .span.is { stroke:var(--first) }
svg .busy { fill:var(--busy) } svg .idle { fill:var(--idle) } svg .fault { stroke:var(--bad);
  stroke-width:2 }
svg .shade0 { opacity:.1 } svg .shade1 { opacity:.2 } svg .shade2 { opacity:.3 }
svg .shade3 { opacity:.4 } svg .shade4 { opacity:.5 } svg .shade5 { opacity:.6 }
svg .shade6 { opacity:.7 } svg .shade7 { opacity:.78 } svg .shade8 { opacity:.85 }
svg .shade9 { opacity:.92 }
svg .ending.success { fill:var(--good) } svg .ending.failure { fill:#8a93a3 }
svg .ending.step_limit { fill:#b9c0cb } svg .ending.gave_up { fill:#d8c08a }
svg .ending.app_crash { fill:#e39a52 } svg .ending.device_lost { fill:var(--bad) }
svg .ending.judge_unavailable { fill:#a97bd1 }
.narrow { display:none }
.legend { display:flex; flex-wrap:wrap; gap:4px 18px; margin:10px 0 0; font-size:13px;
  color:var(--muted) }
.legend span { display:inline-flex; align-items:center; gap:6px } .legend svg { flex:none }
.pair { display:grid; grid-template-columns:1fr 1fr; gap:18px }
.grid { display:grid; grid-template-columns:repeat(auto-fill,minmax(260px,1fr)); gap:22px 26px }
figure { margin:0; min-width:0 }
figcaption { display:flex; flex-wrap:wrap; gap:0 8px; align-items:baseline; margin-bottom:4px }
figcaption b { font-weight:600; font-size:14px } figcaption span { margin-left:auto; font-size:14px;
  font-variant-numeric:tabular-nums }
figcaption i { flex-basis:100%; color:var(--muted); font-style:normal; font-size:12px }
table.success { width:100%; border-collapse:collapse; font-variant-numeric:tabular-nums }
.success th { text-align:left; font-weight:500 } .success thead th { color:var(--muted);
  font-size:12px; font-weight:400; padding-bottom:4px }
.success td, .success tbody th { padding:5px 8px 5px 0; border-top:1px solid var(--rule) }
.success tbody th { overflow-wrap:anywhere }
.success .number { text-align:right; white-space:nowrap }
.success .scale { width:340px; padding-right:20px } .success thead .scale span { float:right }
.success .whole th, .success .whole .number { font-weight:700 }
.success small { color:var(--muted); font-weight:400 }
.good { color:var(--good) } .bad { color:var(--bad) } .fault { color:var(--warn) }
.recording { border-top:1px solid var(--rule); padding-top:16px; margin-top:18px }
.recording p { margin:0 0 12px; display:flex; flex-wrap:wrap; gap:4px 12px; font-size:13px;
  color:var(--muted); align-items:center }
.chip { border:1px solid currentColor; border-radius:99px; padding:1px 10px; font-weight:600;
  font-size:12px }
.stage { margin:22px 0 -6px; font-size:13px; font-weight:600; color:var(--muted) }
.strip { display:flex; gap:14px; overflow-x:auto; list-style:none; margin:0 -24px; padding:2px 24px
  12px; scrollbar-width:thin }
.strip li { flex:none; width:120px }
.strip img, .strip .gone { display:block; width:120px; height:auto; border-radius:9px;
  border:1px solid var(--edge); background:var(--rule) }
.strip .gone { aspect-ratio:1/2; display:grid; place-items:center; color:var(--muted);
  font-size:12px; text-align:center }
.action b { color:var(--muted); font-weight:600; margin-right:4px }
.action { margin-top:6px; height:2.6em; font-size:12.5px; line-height:1.3;
  overflow-wrap:anywhere; overflow:hidden }
.value { height:4px; border-radius:2px; background:var(--rule); margin-top:6px; overflow:hidden }
.value .fill { display:block; height:100%; background:var(--first) }
.thoughts { display:grid; grid-template-columns:repeat(3,1fr); font-size:12px; margin-top:3px;
  line-height:1.25; font-variant-numeric:tabular-nums }
.thoughts i { display:block; color:var(--muted); font-style:normal; font-size:11px }
details table { margin-top:8px }
details summary { cursor:pointer; font-weight:600 } pre { overflow:auto; font-size:12.5px;
  line-height:1.45; max-height:480px; margin:12px 0 0 } pre.wrapped { white-space:pre-wrap }
footer { color:var(--muted); font-size:13px; margin-top:24px }
@media (max-width:720px) {
  main { padding:20px 12px 40px } section { padding:16px; border-radius:12px }
  .wide { display:none } .narrow { display:block } .pair { grid-template-columns:1fr; gap:0 }
  .hero { grid-template-columns:1fr } .hero .from-to { font-size:46px }
  .tiles { grid-template-columns:repeat(2,1fr) } .tiles li:last-child:nth-child(odd) {
    grid-column:span 2 }
  .grid { grid-template-columns:1fr } .strip { margin:0 -16px; padding:2px 16px 12px }
  .success thead { display:none } .success tr { display:grid; grid-template-columns:1fr auto auto
    auto; column-gap:12px; border-top:1px solid var(--rule); padding:6px 0 }
  .success td, .success tbody th { border:0; padding:2px 0 }
  .success tbody th { grid-column:1/-1 } .success .scale { width:auto; padding:4px 8px 0 0 }
  .success small { display:none }
}
@media print { section { break-inside:avoid; box-shadow:none } .strip { flex-wrap:wrap } }
"""
