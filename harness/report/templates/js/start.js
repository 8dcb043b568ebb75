// Makes the page alive: reads the index, then follows the address.
function prepare(index) {
  D = index;
  D.types = D.types.map(([status, change, fold, kinds]) => ({ status, change, fold, kinds }));
  D.column = new Map(D.columns.map((c, at) => [c.id, at]));
  D.address = new Map();
  D.rows = D.rows.map(([id, item, claim, at, swept, name], place) => {
    const flat = D.squares[place], squares = new Map();
    for (let i = 0; i < flat.length; i += 2) squares.set(flat[i], flat[i + 1]);
    const given = D.cases[at], words = new Set([...squares.values()].map((t) => D.types[t].status).filter((s) => D.executed.includes(s)));
    return { id, item, claim, at, swept, place, squares, blob: name, case: given[0], different: words.size > 1, text: `${id} ${claim || given[2]} ${given[1]}`.toLowerCase() };
  });
  D.rate = new Map(D.rates.map(([r, c, k, n]) => [key(r, c), [k, n]]));
  const rows = new Map(D.rows.map((r) => [r.id, r.place]));
  D.share = new Map(D.shares.map(([row, column, share]) => [key(rows.get(row), D.column.get(column)), share]));
  D.repro = new Set(D.repros.map(([r, c]) => key(r, c)));
  D.changed = [];
  for (const row of D.rows) {
    D.address.set(rowLink(row.place), [row.place, -1]);
    for (const [c, t] of row.squares) {
      D.address.set(squareLink(row.place, c), [row.place, c]);
      if (D.types[t].change in MARKS) D.changed.push({ row: row.place, column: c, place: row.place * D.columns.length + D.shown.indexOf(c) });
    }
  }
  D.changed.sort((a, b) => a.place - b.place);
}
function readTools() {
  for (const node of document.querySelectorAll(".scripted")) node.hidden = false;
  for (const id of ["compare-a", "compare-b"]) {
    $(id).append(...[["Columns", D.shown.map((c) => D.columns[c].id)], ["Runs", D.nights.runs]].filter(([, list]) => list.length).map(([label, list]) => el("optgroup", { label }, list.map((name) => el("option", null, name)))));
    $(id).addEventListener("change", () => go({ [id.at(-1)]: $(id).value }, true));
  }
  $("find").addEventListener("input", () => go({ q: $("find").value }, true));
  $("clear").addEventListener("click", () => go({ q: "", a: "", b: "" }, true));
  const buttons = { "save-csv": saveCsv, "save-json": saveJson, "save-md": saveMarkdown, "drawer-close": () => go({ row: -1, column: -1 }), "drawer-before": () => turned(-1), "drawer-after": () => turned(1), "drawer-link": () => copy(location.href, "link"), keys: () => $("help").showModal(), "help-close": () => $("help").close(), theme };
  for (const [id, act] of Object.entries(buttons)) $(id).addEventListener("click", act);
}
// Auto follows the system; a choice is kept where the browser lets a page keep anything.
const THEMES = ["auto", "light", "dark"];
function theme(chosen) {
  const now = document.documentElement.dataset.theme || "auto", next = THEMES.includes(chosen) ? chosen : THEMES[(THEMES.indexOf(now) + 1) % 3];
  if (next === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = next;
  $("theme").textContent = `Theme: ${next}`;
  try {
    localStorage.setItem("silentbench-theme", next);
  } catch {
    // nothing is kept, and the choice holds as long as the page
  }
}
// On paper: the address, and the evidence of the squares that changed.
const PRINTED = 20;
async function appendix() {
  const nodes = [];
  for (const { row, column } of D.changed.slice(0, PRINTED)) {
    const own = D.rows[row], [about, records] = await Promise.all([blob(`case-${own.at}`), blob(own.blob)]);
    const all = records[own.id], view = { row: own, about: about.rows[own.id], files: about.files, all };
    nodes.push(el("article", null, el("h3", null, `${own.id} ${D.columns[column].id}`), ...blocks(view, all[D.columns[column].id]), cellTable(all[D.columns[column].id])));
  }
  $("appendix").replaceChildren(...(nodes.length ? [el("h2", null, D.changed.length > PRINTED ? `Evidence of the first ${PRINTED} of ${D.changed.length} squares that changed` : "Evidence of the squares that changed"), ...nodes] : []));
}

async function start() {
  prepare(await blob("index"));
  readTable();
  readTools();
  readGrid();
  readPicker();
  readLedger();
  let kept = "auto";
  try {
    kept = localStorage.getItem("silentbench-theme") || "auto";
  } catch {
    // as above
  }
  if (kept !== "auto") theme(kept);
  follow();
  addEventListener("hashchange", follow);
  addEventListener("keydown", onKey);
  addEventListener("beforeprint", () => ($("printed").textContent = location.href));
  addEventListener("click", (e) => {
    // The same square again: no hashchange comes, and the reader may have closed it.
    const link = e.target.closest("a[href^='#/'], a[href^='#?']");
    if (link && link.getAttribute("href") === location.hash) follow();
  });
  document.documentElement.dataset.ready = "true";
  (window.requestIdleCallback || setTimeout)(appendix);
}
if ("DecompressionStream" in window) start();
