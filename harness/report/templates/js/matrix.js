// The table: what a filter leaves, groups that are drawn when they are unfolded, and which columns are to be seen.
const SHEET = new CSSStyleSheet();
const AT_ONCE = 30; // rows of long groups that a filter unfolds, all groups together: the others say how many match
const PAGE = 40; // rows of a long group that are drawn at a time
let bodies = [];
let hits = null; // row -> columns, of the last filter; null where nothing is asked
let seen = new Set(); // columns to be seen

function readTable() {
  bodies = [...document.querySelectorAll("#grid tbody")].map((body) => {
    const trs = [...body.querySelectorAll("tr[data-r]")];
    const group = body.classList.contains("group"), heading = body.classList.contains("failure");
    const at = Number(body.dataset.case), rows = heading ? [] : D.rows.filter((r) => r.at === at).map((r) => r.place);
    const box = body.querySelector(".unfold");
    return { body, heading, group, rows, box, trs: new Map(trs.map((tr) => [Number(tr.dataset.r), tr])), long: group && !trs.length, limit: PAGE, own: box && box.checked, drawn: "" };
  });
  for (const b of bodies) if (b.box) b.box.addEventListener("change", () => { b.own = b.box.checked; b.limit = PAGE; b.all = true; unfold(b); });
  for (const box of document.querySelectorAll(".older")) box.addEventListener("change", () => show());
  document.adoptedStyleSheets = [SHEET];
}
// Columns that the reader has not folded away.
function unfolded() {
  const open = new Set([...document.querySelectorAll(".older:checked")].map((b) => b.id));
  return new Set([...document.querySelectorAll("#grid thead [data-k]")].filter((th) => !th.className || open.has(th.className)).map((th) => Number(th.dataset.k)));
}

function squareNode(r, c) {
  const type = D.types[D.rows[r].squares.get(c)], rate = D.rate.get(key(r, c)), link = squareLink(r, c);
  const node = el("a", { class: `sq ${type.status}`, id: link, href: `#${link}`, tabindex: "-1" }, el("span", { class: "w" }, glyph(type.status), type.status), mark(type.change));
  if (rate) node.append(el("small", null, `${rate[0]}/${rate[1]}`));
  if (type.fold) node.append(el("small", null, type.fold));
  return node;
}
function rowNode(r, columns) {
  const row = D.rows[r], tr = el("tr", { class: "item", "data-r": r });
  tr.append(el("th", { scope: "row" }, el("a", { class: "name", id: rowLink(r), href: `#${rowLink(r)}`, tabindex: "-1" }, row.item)));
  for (const c of columns) tr.append(el("td", { "data-k": c }, row.squares.has(c) ? squareNode(r, c) : el("span", { class: "gap" }, row.swept ? "untested" : "not in this run")));
  return tr;
}

// Draw a long group's rows, as far as they are wanted: those of a filter, the first page, or all.
function unfold(b) {
  if (!b.long) return dim(b);
  const wanted = b.box.checked ? b.rows.filter((r) => !hits || b.all || hits[r].length) : [];
  const list = wanted.slice(0, b.limit), columns = D.shown.filter((c) => seen.has(c)), name = `${list}|${columns}|${wanted.length}`;
  if (b.drawn !== name) {
    b.drawn = name;
    for (const tr of b.trs.values()) tr.remove();
    if (b.more) b.more.remove();
    b.trs = new Map(list.map((r) => [r, rowNode(r, columns)]));
    b.more = null;
    if (wanted.length > list.length) {
      const button = el("button", { type: "button", tabindex: "-1" }, `${wanted.length - list.length} more of ${D.cases[D.rows[b.rows[0]].at][0]}`);
      button.addEventListener("click", () => {
        const next = b.rows.indexOf(wanted[list.length]);
        b.limit += 200;
        unfold(b);
        focusCell(b.trs.get(b.rows[next])?.cells[0]);
      });
      b.more = el("tr", { class: "more" }, el("th", { scope: "row" }, button));
    }
    b.body.append(...b.trs.values(), ...(b.more ? [b.more] : []));
  }
  dim(b);
}
// Squares that a filter did not mean step back; a comparison says in each row how it went.
function dim(b) {
  const a = S.a && S.b ? D.column.get(S.a) : undefined, other = D.column.get(S.b);
  for (const [r, tr] of b.trs) {
    const pale = hits && (asked.squares || between()) ? new Set(hits[r]) : null;
    if (pale || tr.pale) for (const td of tr.cells) if (td.dataset.k && seen.has(Number(td.dataset.k))) td.classList.toggle("pale", pale !== null && !pale.has(Number(td.dataset.k)));
    tr.pale = pale !== null;
    let tag = tr.cells[0].querySelector(".went");
    const word = a === undefined ? "" : compared(D.rows[r], a, other);
    if (word && !tag) tr.cells[0].append((tag = el("span", { class: "went tag" })));
    if (tag) word ? (tag.textContent = word) : tag.remove();
    for (const old of tr.querySelectorAll(".was")) old.remove();
    if (between()) for (const c of hits[r]) {
      const square = document.getElementById(squareLink(r, c)), [was, is] = between().map((run) => statusIn(run, r, c));
      if (square) square.append(el("small", { class: "was" }, `${S.a}: ${was}; ${S.b}: ${is}`));
    }
  }
}

// Two runs that are compared, by their places; null where columns are, or nothing.
function between() {
  const runs = [S.a, S.b].map((name) => D.nights.runs.indexOf(name));
  return runs.includes(-1) ? null : runs;
}
// A square's word in a run, "" where it was not asked in it; one that no run changed has its word of today in all.
function statusIn(run, r, c) {
  const known = D.nights.statuses[`${D.rows[r].id}/${D.columns[c].id}`];
  return known ? known[run] : D.types[D.rows[r].squares.get(c)].status;
}
function parted(r, c) {
  const [was, is] = between().map((run) => statusIn(run, r, c));
  return was && is && was !== is;
}

let asked = { empty: true, squares: false };
function show() {
  const own = unfolded(), a = D.column.get(S.a), b = D.column.get(S.b), comparing = a !== undefined && b !== undefined;
  asked = compile(S.q);
  const visible = comparing ? new Set([a, b]) : own;
  hits = asked.empty ? null : search(comparing ? { ...asked, wide: false } : asked, visible);
  if (comparing) hits = D.rows.map((row, r) => (compared(row, a, b) && (!hits || hits[r].length) ? [a, b].filter((c) => !hits || hits[r].includes(c)) : []));
  if (between()) hits = D.rows.map((row, r) => (hits ? hits[r] : [...row.squares.keys()]).filter((c) => parted(r, c)));
  seen = visible;
  if (!comparing && hits && asked.column.length) {
    const named = D.columns.map((c, at) => at).filter((c) => (asked.wide || own.has(c)) && asked.column.every((t) => t(D.columns[c])));
    if (named.length) seen = new Set(named);
  } else if (!comparing && hits && (asked.wide || between())) seen = new Set([...own, ...hits.flat()]);
  const rule = (c) => (seen.has(c) ? `#grid [data-k="${c}"]{display:table-cell!important}` : `#grid [data-k="${c}"]{display:none!important}`);
  const rules = seen === own ? "" : D.columns.map((_, c) => rule(c)).join("");
  if (rules !== SHEET.was) SHEET.replaceSync((SHEET.was = rules));
  draw();
  tell(comparing, a, b);
}
// What a filter leaves is drawn a screen at a time: the first frame has what the reader sees, the next all of it.
const SCREEN = 30;
let rest = 0;
function draw() {
  let budget = AT_ONCE, heading = null, under = 0, above = 0;
  for (const b of bodies) {
    if (b.heading) {
      if (heading) heading.body.hidden = !under;
      [heading, under] = [b, 0];
      continue;
    }
    const found = hits ? b.rows.filter((r) => hits[r].length) : b.rows;
    under += found.length;
    b.body.hidden = !found.length;
    b.body.classList.toggle("later", above > SCREEN && found.length > 0);
    above += found.length && (b.group ? 1 + Math.min(found.length, b.long ? 3 : 99) : 1);
    if (b.group) {
      b.all = false;
      b.limit = PAGE;
      if (b.long && hits && found.length) {
        b.box.checked = budget > 0 && found.length < b.rows.length * 0.9;
        b.limit = Math.min(PAGE, Math.max(budget, 0));
        if (b.box.checked) budget -= Math.min(found.length, b.limit);
      } else b.box.checked = hits ? found.length > 0 : b.own;
      const count = b.body.querySelector(".count"), noun = D.rows[b.rows[0]].swept ? "operations" : "rows";
      count.textContent = hits && found.length < b.rows.length ? ` ${found.length} of ${b.rows.length} ${noun} match` : ` ${b.rows.length} ${noun}`;
    }
    if (!b.long) for (const [r, tr] of b.trs) tr.hidden = Boolean(hits && !hits[r].length);
    if (found.length) unfold(b);
  }
  if (heading) heading.body.hidden = !under;
  cancelAnimationFrame(rest);
  rest = requestAnimationFrame(() => {
    rest = requestAnimationFrame(settle);
  });
}
function settle() {
  for (const body of document.querySelectorAll("#grid .later")) body.classList.remove("later");
}
function tell(comparing, a, b) {
  const known = (name) => D.column.has(name) || D.nights.runs.includes(name);
  let text = asked.problem || (!comparing && !between() && known(S.a) && known(S.b) ? "two columns are compared, or two runs" : "");
  if (!text && hits) {
    const rows = hits.filter((h) => h.length).length, squares = hits.reduce((n, h) => n + h.length, 0);
    text = rows ? `${between() ? `${S.b} beside ${S.a}: ` : ""}${rows} of ${D.rows.length} rows${(asked.squares || between()) && !comparing ? `, ${squares} squares` : ""}` : between() ? `${S.b} beside ${S.a}: no square differs` : "nothing matches";
    if (comparing) {
      const went = {};
      D.rows.forEach((row, r) => { if (hits[r].length) { const w = compared(row, a, b); went[w] = (went[w] || 0) + 1; } });
      text = `${D.columns[b].id} beside ${D.columns[a].id}: ${Object.entries(went).map(([w, n]) => `${n} ${w}`).join(", ") || "no row differs"}`;
    }
  }
  if ($("shown").textContent !== text) {
    $("shown").textContent = text;
    if (text) say(text);
  }
}
