"use strict";
// Draws each flow's plots when they come into view, moves them together, and hands them to paper.
(() => {
  const drawn = new Map(), ready = [];

  const unpacked = async (text) => {
    const bytes = Uint8Array.from(atob(text.trim()), (letter) => letter.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    return JSON.parse(await new Response(stream).text());
  };

  // Columns come as a unit and steps from value to value, which Bokeh does not know.
  const column = ([unit, steps]) => {
    let sum = 0;
    return Float64Array.from(steps, (step) => step === null ? NaN : (sum += step) * unit);
  };

  const unpackedColumns = (columns) => new Map(
    Object.entries(columns).map(([id, packed]) => [
      id, Object.fromEntries(Object.entries(packed).map(([name, values]) => [name, column(values)])),
    ]),
  );

  // Nothing yet, as two points: BokehJS never comes back from an area of none.
  const begun = ([name]) => [name, name === "x" ? [0, 0] : [NaN, NaN]];

  // The models' sources get the columns that their glyphs begin with.
  const filled = (node, full) => {
    if (node === null || typeof node !== "object") return;
    if (node.attributes && full.has(node.id)) {
      node.attributes.data = {type: "map", entries: Object.entries(full.get(node.id)).map(begun)};
    } else for (const inner of Object.values(node)) filled(inner, full);
  };

  // The least and the most of some columns between two times, and of the step that reaches into them.
  const extent = (data, columns, start, end) => {
    const first = Math.max(0, shown.below(data.x, start) - 1), last = shown.below(data.x, end);
    let low = Infinity, high = -Infinity;
    for (const column of columns) {
      const values = data[column];
      for (let at = first; at < last; at++) {
        const value = values[at];
        if (value < low) low = value;
        if (value > high) high = value;
      }
    }
    return [low, high];
  };

  // The vertical axis shows what is there; limits only where they are not far above it.
  const fit = (flow, plot, start, end, whole) => {
    let low = Infinity, high = -Infinity;
    const limits = [];
    for (const renderer of plot.renderers) {
      const [role, ...columns] = renderer.tags;
      if (role !== "base" && role !== "limit") continue;
      const [least, most] = extent(flow.full.get(renderer.data_source.id), columns, start, end);
      if (role === "limit") limits.push(most);
      else { low = Math.min(low, least); high = Math.max(high, most); }
    }
    for (const span of plot.center.filter((part) => part.tags.includes("limit"))) limits.push(span.location);
    const sequence = plot.tags.includes("sequence");
    if (!(high >= low)) { low = 0; high = Math.max(1, ...limits.filter(Number.isFinite)); }
    if (!sequence || whole) low = Math.min(0, low);
    const room = Math.max(high - low, Math.abs(high) * 1e-6) || 1;
    const most = high + room * (sequence ? 0.5 : 1.6);
    for (const limit of limits) if (limit > high && limit <= most) high = limit;
    // An axis of no height would keep BokehJS looking for ticks for ever.
    const height = Math.max(high - low, Math.abs(high) * 1e-3) || 1;
    plot.y_range.setv({start: low - 0.03 * height, end: high + 0.07 * height});
  };

  const MOVING_PX = 4;

  // Every source holds what the screen can show; a few pixels share a column while something moves.
  const update = (flow, pixels) => {
    const {start, end} = flow.range, done = new Set();
    const whole = start <= flow.whole[0] && end >= flow.whole[1];
    for (const plot of flow.plots) {
      if (plot.tags.includes("fit")) fit(flow, plot, start, end, whole);
      const {inner_width: width, inner_height: rows, y_range: {start: low, end: high}} = plot;
      const view = {start, end, low, high, width, rows, cells: Math.max(50, Math.round(width / pixels))};
      for (const {data_source: source, glyph} of plot.renderers) {
        const full = flow.full.get(source.id);
        // Patterns move with their waits; which waits are wide enough for one can wait for rest.
        if (done.has(source) || (pixels > 1 && glyph.type === "Quad" && !full.cause)) continue;
        done.add(source);
        source.data = shown.of(glyph.type, full, view);
      }
    }
  };

  const move = (flow, start, end) => {
    const [first, last] = flow.whole;
    const length = Math.min(Math.max(end - start, (last - first) * 1e-6), last - first);
    const from = Math.min(Math.max(start, first), last - length);
    flow.range.setv({start: from, end: from + length});
  };

  const zoom = (flow, how) => {
    const {start, end} = flow.range, length = end - start, middle = (start + end) / 2;
    if (how === "in") move(flow, middle - length / 4, middle + length / 4);
    else if (how === "out") move(flow, middle - length, middle + length);
    else if (how === "left") move(flow, start - length / 4, end - length / 4);
    else if (how === "right") move(flow, start + length / 4, end + length / 4);
    else move(flow, ...flow.whole);
  };

  const draw = async (box) => {
    if (drawn.has(box)) return drawn.get(box);
    const work = (async () => {
      const {document: model, roots, columns} = await unpacked(box.querySelector("script").textContent);
      const full = unpackedColumns(columns);
      const key = `flow-${box.dataset.flow}`;
      filled(model, full);
      const managers = await Bokeh.embed.embed_items({[key]: model}, [{docid: key, roots, root_ids: Object.keys(roots)}]);
      const views = managers.flatMap((manager) => [...manager.roots]).filter((view) => view.model.id in roots);
      const plots = views.map((view) => view.model);
      const range = plots[0].x_range;
      const flow = {box, roots, views, plots, range, full, whole: [range.start, range.end]};
      if (matchMedia("(pointer: coarse)").matches) {
        // A finger on a plot scrolls the page; buttons zoom.
        for (const plot of plots) plot.toolbar.active_drag = null;
      }
      for (const source of plots.flatMap((plot) => plot.renderers.map((renderer) => renderer.data_source))) {
        if (!full.has(source.id)) full.set(source.id, source.data);
      }
      let asked = false, rest = 0;
      range.change.connect(() => {
        if (asked) return;
        asked = true;
        queueMicrotask(() => {
          asked = false;
          update(flow, MOVING_PX);
          clearTimeout(rest);
          rest = setTimeout(() => update(flow, 1), 180);
        });
      });
      update(flow, 1);
      ready.push(flow);
      box.dataset.drawn = "yes";
      return flow;
    })();
    drawn.set(box, work);
    return work;
  };

  const boxes = [...document.querySelectorAll(".plots")];
  for (const box of boxes) {
    box.addEventListener("click", async (event) => {
      const button = event.target.closest("button[data-zoom]");
      if (button) zoom(await draw(box), button.dataset.zoom);
    });
    const keys = {"+": "in", "=": "in", "-": "out", ArrowLeft: "left", ArrowRight: "right", 0: "all"};
    box.addEventListener("keydown", async (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || !keys[event.key]) return;
      event.preventDefault();
      zoom(await draw(box), keys[event.key]);
    });
    box.closest(".flow").addEventListener("click", async (event) => {
      const button = event.target.closest("button.show");
      if (!button) return;
      const flow = await draw(box), unit = Number(box.dataset.unitNs);
      const start = Number(button.dataset.from) / unit, end = Number(button.dataset.to) / unit;
      const room = Math.max((end - start) * 0.5, (flow.whole[1] - flow.whole[0]) * 1e-5);
      move(flow, start - room, end + room);
      box.scrollIntoView({block: "start"});
      box.querySelector(".drawn").focus({preventScroll: true});
    });
  }

  const seen = new IntersectionObserver((entries) => {
    for (const entry of entries) if (entry.isIntersecting) { seen.unobserve(entry.target); draw(entry.target); }
  }, {rootMargin: "600px"});
  for (const box of boxes) seen.observe(box);

  // Paper cannot wait: whatever has not been looked at is drawn when there is nothing else to do.
  const idle = window.requestIdleCallback ?? ((work) => setTimeout(work, 200));
  const drawRest = () => {
    const box = boxes.find((one) => !drawn.has(one));
    if (box) draw(box).then(() => idle(drawRest));
  };
  addEventListener("load", () => setTimeout(() => idle(drawRest), 1000));

  // Canvases keep the width of the screen; pictures of them fit any paper.
  const paper = (flow) => {
    for (const view of flow.views) {
      const picture = document.createElement("img");
      picture.className = "paper";
      picture.alt = "";
      picture.src = view.export("png", true).canvas.toDataURL();
      document.getElementById(flow.roots[view.model.id]).after(picture);
    }
    flow.box.classList.add("printed");
  };

  let opened = [];
  addEventListener("beforeprint", () => {
    opened = [...document.querySelectorAll("details:not([open])")];
    for (const one of opened) one.open = true;
    ready.forEach(paper);
  });
  addEventListener("afterprint", () => {
    for (const one of opened) one.open = false;
    for (const picture of document.querySelectorAll("img.paper")) picture.remove();
    for (const flow of ready) flow.box.classList.remove("printed");
  });
})();
