// The picker: use, use with this workaround, or avoid. Its rules stand beside it on the page, and it knows the records of this page only.
const BLOCKS = ["silent", "crash", "hang", "unstable"];

function readPicker() {
  const frameworks = [...new Set(D.columns.filter((c) => !D.aside.includes(c.framework)).map((c) => c.framework))];
  $("pick-framework").replaceChildren(...frameworks.map((f) => el("option", null, f)));
  const listed = () => {
    const columns = D.shown.map((c) => D.columns[c]).filter((c) => c.framework === $("pick-framework").value);
    $("pick-version").replaceChildren(...columns.map((c) => el("option", { value: c.id }, c.label)));
    pick();
  };
  $("pick-framework").addEventListener("change", listed);
  $("pick-version").addEventListener("change", pick);
  $("pick-ops").addEventListener("input", pick);
  listed();
}

// Another path, dtypes or a mode of the same square whose cells are all ok; "" where the records show none.
function workaround(type) {
  const kinds = type.kinds.map((k) => D.kinds[k]), fine = (list) => list.length && list.every((k) => k[3] === "ok");
  for (const variant of new Set(kinds.map((k) => k[0]))) if (variant && fine(kinds.filter((k) => k[0] === variant))) return `its ${variant} path`;
  const main = kinds.filter((k) => !k[0]), eager = main.filter((k) => k[2] === "eager");
  if (eager.length < main.length && fine(eager)) return "in eager mode";
  const good = [...new Set(eager.map((k) => k[1]))].filter((d) => d !== "all" && fine(main.filter((k) => k[1] === d)));
  return good.length ? `in ${good.join(" and ")} only` : "";
}

function judge(c, words) {
  const found = { asked: 0, avoid: [], around: [], slow: [], loud: 0, differs: 0, left: 0, unknown: words.filter((w) => !D.rows.some((r) => r.text.includes(w))) };
  for (const row of D.rows) {
    if (words.length && !words.some((w) => row.text.includes(w))) continue;
    const type = row.squares.has(c) ? D.types[row.squares.get(c)] : null;
    if (!type || !D.executed.includes(type.status)) {
      found.left += 1;
      continue;
    }
    found.asked += 1;
    if (type.status === "loud" || type.status === "differs") found[type.status] += 1;
    if (type.status === "slow") found.slow.push([row, ""]);
    if (!BLOCKS.includes(type.status)) continue;
    const way = workaround(type);
    (way ? found.around : found.avoid).push([row, way, type.status]);
  }
  found.word = found.avoid.length ? "avoid" : found.around.length || found.slow.length ? "use with this workaround" : found.asked ? "use" : "no answer";
  return found;
}

function pick() {
  const c = D.column.get($("pick-version").value), words = $("pick-ops").value.toLowerCase().split(/[\s,]+/).filter(Boolean);
  const found = judge(c, words), shown = [...found.avoid, ...found.around, ...found.slow].slice(0, 5), more = found.avoid.length + found.around.length + found.slow.length - shown.length;
  const others = found.avoid.length && words.length ? D.shown.filter((o) => o !== c && D.columns[o].framework === D.columns[c].framework && judge(o, words).word === "use") : [];
  const named = words.length > 0; // without a word there is nothing to answer: only what was counted
  const query = `col:${D.columns[c].id} is:bad`;
  $("picked").replaceChildren(
    named ? el("p", { class: `answer ${{ avoid: "silent", use: "ok", "no answer": "error" }[found.word] || "unstable"}` }, glyph({ avoid: "silent", use: "ok", "no answer": "untested" }[found.word] || "unstable"), el("b", null, found.word), ` ${D.columns[c].id} for ${words.join(", ")}`)
      : el("p", null, "Name the operations you use for an answer. Of everything here:"),
    el("p", { class: "dim" }, [`${found.asked} rows asked`, found.avoid.length && `${found.avoid.length} go wrong and show no way around`, found.around.length && `${found.around.length} go wrong and have a workaround`, found.slow.length && `${found.slow.length} slow`, found.loud && `${found.loud} refuse with an error`, found.differs && `${found.differs} differ as documented`, found.left && `${found.left} not asked or not offered`].filter(Boolean).join(" · "), "."),
    el("ul", { class: "reasons" }, (named ? shown : []).map(([row, way, status]) => el("li", null, chip(status || "slow"), " ", el("a", { href: `#${squareLink(row.place, c)}` }, row.id), way ? [": right ", el("b", null, way)] : ""))),
    more > 0 || (!named && shown.length) ? el("p", null, el("a", { href: `#?q=${encodeURIComponent(query)}` }, `all ${more + shown.length} in the matrix`)) : "",
    others.length ? el("p", null, "Nothing of this is wrong in ", others.slice(0, 3).map((o, i) => [i ? ", " : "", el("b", null, D.columns[o].id)]), ".") : "",
    found.unknown.length ? el("p", { class: "dim" }, `No row names ${found.unknown.join(", ")}.`) : "",
  );
}
