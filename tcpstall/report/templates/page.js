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

  const filled = (node, columns) => {
    if (node === null || typeof node !== "object") return;
    if (node.id in columns && node.attributes) {
      const data = Object.entries(columns[node.id]).map(([name, packed]) => [name, column(packed)]);
      node.attributes.data = {type: "map", entries: data};
    } else for (const inner of Object.values(node)) filled(inner, columns);
  };

  const below = (values, wanted) => {
    let low = 0, high = values.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (values[middle] < wanted) low = middle + 1; else high = middle;
    }
    return low;
  };

  // The least and the most of some columns between two times, and of the step that reaches into them.
  const extent = (renderer, columns, start, end) => {
    const data = renderer.data_source.data;
    const first = Math.max(0, below(data.x, start) - 1), last = below(data.x, end);
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
  const fit = (plot, start, end, whole) => {
    let low = Infinity, high = -Infinity;
    const limits = [];
    for (const renderer of plot.renderers) {
      const [role, ...columns] = renderer.tags;
      if (role !== "base" && role !== "limit") continue;
      const [least, most] = extent(renderer, columns, start, end);
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
    plot.y_range.setv({start: low - 0.03 * (high - low), end: high + 0.07 * (high - low) || 1});
  };

  // A wait's name stands where the wait is long enough on the screen, in the middle of what is seen of it.
  const nameWaits = (plot, width, start, end) => {
    for (const renderer of plot.renderers) {
      if (!renderer.tags.includes("names")) continue;
      const {data} = renderer.data_source, {from, to, cause} = data;
      const x = [], name = [];
      for (let at = 0; at < cause.length; at++) {
        const left = Math.max(from[at], start), right = Math.min(to[at], end);
        x.push((left + right) / 2);
        name.push((right - left) / (end - start) * width > 6.4 * cause[at].length + 8 ? cause[at] : "");
      }
      if (name.every((text, at) => text === data.name[at] && (!text || x[at] === data.x[at]))) continue;
      renderer.data_source.data = {...data, x, name};
    }
  };

  const fitAll = (flow) => {
    const {start, end} = flow.range;
    flow.plots.forEach((plot) => nameWaits(plot, plot.inner_width, start, end));
    const whole = start <= flow.whole[0] && end >= flow.whole[1];
    for (const plot of flow.plots) if (plot.tags.includes("fit")) fit(plot, start, end, whole);
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
      filled(model, columns);
      const key = `flow-${box.dataset.flow}`;
      const managers = await Bokeh.embed.embed_items({[key]: model}, [{docid: key, roots, root_ids: Object.keys(roots)}]);
      const views = managers.flatMap((manager) => [...manager.roots]).filter((view) => view.model.id in roots);
      const plots = views.map((view) => view.model);
      const range = plots[0].x_range;
      const flow = {box, roots, views, plots, range, whole: [range.start, range.end]};
      if (matchMedia("(pointer: coarse)").matches) {
        // A finger on a plot scrolls the page; buttons zoom.
        for (const plot of plots) plot.toolbar.active_drag = null;
      }
      let asked = false;
      range.change.connect(() => {
        if (asked) return;
        asked = true;
        queueMicrotask(() => { asked = false; fitAll(flow); });
      });
      fitAll(flow);
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
    box.closest("section").addEventListener("click", async (event) => {
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
