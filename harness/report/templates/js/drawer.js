// The drawer: opens what the address names, and gives the focus back where it came from.
let from = null; // what had the focus before
let drawing = 0;

function follow() {
  const text = location.hash.slice(1);
  let path = text.replace(/\?.*$/s, "");
  const parameters = new URLSearchParams(text.slice(path.length + 1));
  try {
    path = decodeURIComponent(path);
  } catch {
    // a per cent sign that is no escape is itself
  }
  if (!path.startsWith("/") && path) return; // a section of the page, which the browser goes to
  const before = S.q + S.a + S.b;
  for (const name of ["q", "a", "b"]) S[name] = parameters.get(name) || "";
  if (before !== S.q + S.a + S.b) $("grid").parentElement.scrollTop = 0; // other rows: from the first one on
  const [row, column] = D.address.get(path) || [-1, -1];
  [S.row, S.column] = [row, column];
  if ($("find").value !== S.q) $("find").value = S.q;
  for (const name of ["a", "b"]) $(`compare-${name}`).value = S[name];
  show();
  if (row < 0) {
    close();
    if (path) say(`nothing on this page has the address ${path}`);
    else if ((S.q || S.a) && !$("find").closest(".tools").contains(document.activeElement)) $("matrix").scrollIntoView();
  } else open(row, column);
}

async function open(r, c) {
  const turn = ++drawing, drawer = $("drawer"), row = D.rows[r];
  if (drawer.hidden) from = document.activeElement;
  const [about, records, made] = await Promise.all([blob(`case-${row.at}`), blob(row.blob), repros(row)]);
  if (turn !== drawing) return; // another square was opened meanwhile
  const own = { row, about: about.rows[row.id], files: about.files, all: records[row.id], made: made[row.id] };
  $("drawer-title").replaceChildren(row.id, " ", el("span", { class: "dim" }, c < 0 ? "" : D.columns[c].id));
  $("drawer-body").replaceChildren(...(c < 0 ? rowView(own) : squareView(own, c)).flat(9).filter(Boolean));
  drawer.hidden = false;
  document.body.classList.add("with-drawer");
  drawer.scrollTop = 0;
  for (const old of document.querySelectorAll("[aria-current]")) old.removeAttribute("aria-current");
  const square = c < 0 ? null : reveal(r, c);
  if (square) square.setAttribute("aria-current", "true");
  $("drawer-title").focus({ preventScroll: true });
  if (c >= 0) say(`${row.id}, ${D.columns[c].id}: ${D.types[row.squares.get(c)].status}`);
}
function close() {
  drawing += 1;
  const drawer = $("drawer");
  if (drawer.hidden) return;
  const here = drawer.contains(document.activeElement);
  drawer.hidden = true;
  document.body.classList.remove("with-drawer");
  const current = document.querySelector("[aria-current]");
  if (current) current.removeAttribute("aria-current");
  const back = current || from;
  if (here && back && back.isConnected) back.closest("#grid") ? focusCell(back.closest("td,th")) : back.focus();
}
// The square in the table, its group unfolded and its column shown; null where a filter leaves it out.
function reveal(r, c) {
  settle();
  const b = bodies.find((x) => x.rows.includes(r));
  const column = document.querySelector(`#grid thead [data-k="${c}"]`);
  if (column && !seen.has(c) && column.className && !hits) {
    $(column.className).checked = true;
    show();
  }
  if (b.box && !b.box.checked) b.box.checked = b.own = true;
  if (b.long) {
    const place = (hits && !b.all ? b.rows.filter((x) => hits[x].length) : b.rows).indexOf(r);
    if (place >= b.limit) b.limit = place + PAGE;
    unfold(b);
  }
  const square = document.getElementById(squareLink(r, c));
  if (square) square.scrollIntoView({ block: "nearest", inline: "nearest" });
  return square;
}

// Previous or next square that changed, in the order of the table.
function turned(step) {
  if (!D.changed.length) return say("no square changed since the baseline");
  const cell = document.activeElement.closest?.("#grid td"), tr = cell && cell.parentElement;
  const [r, c] = S.row >= 0 ? [S.row, S.column] : tr && tr.dataset.r ? [Number(tr.dataset.r), Number(cell.dataset.k)] : [step > 0 ? -1 : D.rows.length, 0];
  const place = r * D.columns.length + D.shown.indexOf(c);
  const ordered = step > 0 ? D.changed : [...D.changed].reverse();
  const next = ordered.find((x) => (step > 0 ? x.place > place : x.place < place)) || ordered[0];
  if (S.row >= 0) return go({ row: next.row, column: next.column });
  if (hits && !hits[next.row].includes(next.column)) go({ q: "", a: "", b: "" }, true);
  const square = reveal(next.row, next.column);
  if (square) focusCell(square.closest("td"));
  say(`${D.rows[next.row].id}, ${D.columns[next.column].id}: ${D.types[D.rows[next.row].squares.get(next.column)].change}`);
}
