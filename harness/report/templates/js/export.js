// What the filter shows, as files made here of the page's own data.
function exported() {
  const list = [];
  D.rows.forEach((row, r) => {
    for (const c of D.shown.filter((x) => row.squares.has(x) && (hits ? hits[r].includes(x) : true))) list.push([row, D.columns[c], D.types[row.squares.get(c)], D.rate.get(key(r, c))]);
  });
  return list;
}
function save(name, type, content) {
  const link = el("a", { download: name, href: URL.createObjectURL(new Blob([content], { type })) });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  say(`${name} saved`);
}
// A cell that a spreadsheet would run as a formula is given a quote before it.
const quoted = (x) => `"${String(x).replace(/^(?=[=+\-@\t\r])/, "'").replaceAll('"', '""')}"`;
const barred = (x) => String(x).replaceAll("|", "\\|").replace(/[\r\n]+/g, " ").replaceAll("<", "&lt;");

function saveCsv() {
  const lines = [["case", "item", "framework", "version", "column", "variant", "dtype", "mode", "status", "change"].join(",")];
  for (const [row, column, type] of exported()) for (const k of type.kinds) {
    const [variant, dtype, mode, status, change] = D.kinds[k];
    lines.push([row.case, row.item, column.framework, column.version, column.id, variant, dtype, mode, status, change].map(quoted).join(","));
  }
  save("silentbench.csv", "text/csv", `${lines.join("\r\n")}\r\n`);
}
async function saveJson() {
  const records = [];
  for (const [row, column] of exported()) for (const r of (await blob(row.blob))[row.id][column.id]) records.push({ ...r, environment: D.environments[r.environment] });
  save("silentbench.json", "application/json", JSON.stringify({ schema: 1, run: D.run, made: D.made, query: S.q, records }, null, 1));
}
function saveMarkdown() {
  const list = exported(), lines = [`silentbench, ${list.length} squares${S.q ? `, \`${barred(S.q)}\`` : ""}, run ${D.run}`, "", "| question | column | verdict | how |", "| --- | --- | --- | --- |"];
  for (const [row, column, type, rate] of list) lines.push(`| ${barred(row.id)} | ${barred(column.id)} | ${type.status}${type.change in MARKS ? ` (${type.change})` : ""} | ${[rate ? `${rate[0]}/${rate[1]}` : "", barred(type.fold)].filter(Boolean).join("; ")} |`);
  save("silentbench.md", "text/markdown", `${lines.join("\n")}\n`);
}
