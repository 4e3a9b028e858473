"use strict";
// What a reader's hand does with the page: opens a flow, sorts a table, looks for rows in it, copies a command.
(() => {
  const made = (name, attributes, text = "") => {
    const element = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    element.textContent = text;
    return element;
  };

  const selected = (code) => {
    const range = document.createRange();
    range.selectNodeContents(code);
    getSelection().removeAllRanges();
    getSelection().addRange(range);
  };

  // Without a clipboard, as in a file that some browsers do not trust, the text is selected for Ctrl-C.
  const copy = async (code) => {
    try {
      await navigator.clipboard.writeText(code.textContent);
      return true;
    } catch {
      selected(code);
      return document.execCommand("copy");
    }
  };

  for (const code of document.querySelectorAll("code.filter, code.command")) {
    const button = made("button", {type: "button", class: "copy", "aria-label": `Copy ${code.textContent}`}, "copy");
    button.addEventListener("click", async () => {
      button.textContent = await copy(code) ? "copied" : "selected";
      setTimeout(() => { button.textContent = "copy"; }, 1500);
    });
    code.after(" ", button);
  }

  // A link to a flow opens it.
  const open = (hash) => {
    const target = hash.length > 1 && document.getElementById(decodeURIComponent(hash.slice(1)));
    const closed = target && target.closest("details:not([open])");
    if (closed) { closed.open = true; target.scrollIntoView(); }
  };

  document.addEventListener("click", (event) => {
    const link = event.target.closest('a[href^="#"]');
    if (link) open(link.hash);
  });
  addEventListener("hashchange", () => open(location.hash));
  open(location.hash);

  // What a cell is sorted by: its own figure, else the figure that its text is, else its text.
  const value = (row, column) => {
    const cell = row.cells[column], text = cell.textContent.trim(), figure = text.replaceAll(",", "");
    if (cell.dataset.n !== undefined) return cell.dataset.n === "" ? -Infinity : Number(cell.dataset.n);
    return figure !== "" && !Number.isNaN(Number(figure)) ? Number(figure) : text;
  };

  const order = (one, other) => {
    if (typeof one === "number" && typeof other === "number") return one === other ? 0 : one - other;
    return String(one).localeCompare(String(other), undefined, {numeric: true});
  };

  // Figures begin with the greatest, words with the first; once more turns the order.
  const sort = (table, head, column) => {
    const body = table.tBodies[0], rows = [...body.rows], figures = head.classList.contains("n");
    const before = head.getAttribute("aria-sort") ?? (figures ? "ascending" : "descending");
    const now = before === "ascending" ? "descending" : "ascending", sign = now === "ascending" ? 1 : -1;
    for (const each of table.tHead.rows[0].cells) each.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", now);
    rows.sort((one, other) => sign * order(value(one, column), value(other, column)));
    body.append(...rows);
  };

  const FEW = 8;

  for (const table of document.querySelectorAll("table.sortable")) {
    [...table.tHead.rows[0].cells].forEach((head, column) => {
      const button = made("button", {type: "button", class: "sort"}, head.textContent);
      button.addEventListener("click", () => sort(table, head, column));
      head.replaceChildren(button);
    });
    const rows = [...table.tBodies[0].rows];
    if (rows.length <= FEW) continue;
    const label = made("label", {class: "find"}, "find ");
    const field = made("input", {type: "search", placeholder: "address, port, cause …"});
    const count = made("output", {});
    field.addEventListener("input", () => {
      const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
      for (const row of rows) row.hidden = !words.every((word) => row.textContent.toLowerCase().includes(word));
      const left = rows.filter((row) => !row.hidden).length;
      count.textContent = words.length ? ` ${left} of ${rows.length}` : "";
    });
    label.append(field, count);
    table.parentElement.before(label);
  }
})();
