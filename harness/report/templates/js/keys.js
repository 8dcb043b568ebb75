// The keyboard: a grid with one tab stop, and a letter for each thing one does often.
const usable = (cell) => cell && (cell.querySelector("a.sq, a.tally, a.name, input, button") || cell);
const inView = (node) => node.offsetParent !== null;
let stop = null; // the cell that Tab comes to

function focusCell(cell) {
  if (!cell) return;
  if (stop) usable(stop).setAttribute("tabindex", "-1");
  stop = cell;
  const node = usable(cell);
  node.setAttribute("tabindex", "0");
  node.focus();
  cell.scrollIntoView({ block: "nearest", inline: "nearest" });
}
function readGrid() {
  const grid = $("grid");
  grid.setAttribute("role", "grid");
  grid.setAttribute("aria-rowcount", String(D.rows.length));
  grid.setAttribute("aria-readonly", "true");
  for (const node of grid.querySelectorAll("a, tbody input")) node.setAttribute("tabindex", "-1");
  for (const gap of grid.querySelectorAll("td > .gap")) gap.parentElement.setAttribute("tabindex", "-1");
  stop = [...grid.querySelectorAll("tbody tr:not([hidden]) [data-k]")].find(inView);
  if (stop) usable(stop).setAttribute("tabindex", "0");
  grid.addEventListener("keydown", inGrid);
  grid.addEventListener("focusin", (e) => {
    const cell = e.target.closest("td, tbody th");
    if (!cell || cell === stop) return;
    if (stop && stop.isConnected) usable(stop).setAttribute("tabindex", "-1");
    stop = cell;
    e.target.setAttribute("tabindex", "0");
  });
}
const rowsInView = () => (settle(), [...$("grid").querySelectorAll("tbody:not(.failure) tr")].filter(inView));
function inGrid(e) {
  const cell = e.target.closest("td, th"), tr = cell && cell.parentElement;
  if (!cell || e.altKey || e.metaKey) return;
  const cells = [...tr.cells].filter(inView), at = cells.indexOf(cell), column = cell.dataset.k;
  const sideways = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: cells.length - 1 };
  let to = null;
  if (e.key in sideways && !(e.ctrlKey && /Home|End/.test(e.key))) to = cells[sideways[e.key]];
  else if (/^(Arrow(Up|Down)|Home|End|PageUp|PageDown)$/.test(e.key)) {
    const rows = rowsInView(), here = rows.indexOf(tr), last = rows.length - 1;
    const row = rows[Math.max(0, Math.min(last, { ArrowUp: here - 1, ArrowDown: here + 1, PageUp: here - 10, PageDown: here + 10, Home: 0, End: last }[e.key]))];
    to = row && ([...row.cells].find((c) => c.dataset.k === column && inView(c)) || row.cells[0]);
  } else if (e.key === "Enter" && e.target.matches("input")) e.target.click();
  else return;
  e.preventDefault();
  if (to) {
    if (!to.querySelector("a, input, button")) to.setAttribute("tabindex", "-1");
    focusCell(to);
  }
}

function onKey(e) {
  if (e.defaultPrevented || e.ctrlKey || e.metaKey || e.altKey) return;
  const typing = e.target.matches("input:not([type=checkbox]), select, textarea");
  if (e.key === "Escape") {
    if ($("help").open) return;
    if (!$("drawer").hidden) go({ row: -1, column: -1 });
    else if (e.target === $("find")) go({ q: "" }, true);
    else if (S.a || S.b || S.q) go({ q: "", a: "", b: "" });
    return;
  }
  if (typing || $("help").open) return;
  const act = {
    "/": () => $("find").focus(), "?": () => $("help").showModal(), "[": () => turned(-1), "]": () => turned(1), d: () => $("compare-a").focus(),
    y: () => copy(location.href, "link"), c: () => S.column >= 0 && copy(command(D.rows[S.row], D.columns[S.column]), "command"),
  }[e.key];
  if (act) {
    e.preventDefault();
    act();
  }
}
