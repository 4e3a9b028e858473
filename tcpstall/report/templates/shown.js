"use strict";
// What of a flow's series a screen can show apart: extremes are kept, so nothing is lost but what pixels would cover.
const shown = (() => {
  const HATCHED_PX = 6, MARK_PX = 4;

  // The place of the first of some rising values that is not below the one that is wanted.
  const below = (values, wanted) => {
    let low = 0, high = values.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (values[middle] < wanted) low = middle + 1; else high = middle;
    }
    return low;
  };

  // A view has its first and last time, its lowest and highest level, and how many columns and rows of pixels lie between.
  const cell = (view, time) => Math.floor((time - view.start) / (view.end - view.start) * view.cells);

  // Those of `x` in the view, and one more at each side.
  const inside = (x, view) => {
    const last = Math.min(x.length, below(x, view.end) + 1);
    // Two at least, where there are two: BokehJS never comes back from an area of none.
    return [Math.max(0, Math.min(below(x, view.start) - 1, last - 2)), last];
  };

  // The first, lowest, highest and last level of each column. What lies beyond the view is moved to its rim: a dashed
  // line to a window a thousand screens away would take the browser minutes.
  const steps = ({x, y}, view) => {
    const [first, last] = inside(x, view), length = view.end - view.start, height = view.high - view.low;
    const left = view.start - length / 50, right = view.end + length / 50;
    const bottom = view.low - height / 5, top = view.high + height / 5;
    const time = [], level = [];
    const add = (at, value) => {
      time.push(at < left ? left : at > right ? right : at);
      level.push(value < bottom ? bottom : value > top ? top : value);
    };
    if (last - first <= 4 * view.cells) {
      for (let at = first; at < last; at++) add(x[at], y[at]);
      return {x: Float64Array.from(time), y: Float64Array.from(level)};
    }
    for (let at = first; at < last;) {
      const head = at, column = cell(view, x[head]);
      let low = y[head], high = y[head];
      for (at++; at < last && cell(view, x[at]) === column; at++) {
        if (!(y[at] >= low)) low = Number.isNaN(y[at]) ? low : y[at];
        if (!(y[at] <= high)) high = Number.isNaN(y[at]) ? high : y[at];
      }
      const tail = at - 1;
      add(x[head], y[head]);
      if (tail > head) {
        if (low < high) { add(x[head], low); add(x[head], high); }
        add(x[tail], y[tail]);
      }
    }
    return {x: Float64Array.from(time), y: Float64Array.from(level)};
  };

  // One stroke a column, from its lowest byte to its highest.
  const strokes = ({x, low, high}, view) => {
    const [first, last] = inside(x, view);
    if (last - first <= 2 * view.cells) {
      return {x: x.subarray(first, last), low: low.subarray(first, last), high: high.subarray(first, last)};
    }
    const time = [], bottom = [], top = [];
    for (let at = first; at < last;) {
      const head = at, column = cell(view, x[head]);
      let least = low[head], most = high[head];
      for (at++; at < last && cell(view, x[at]) === column; at++) {
        least = Math.min(least, low[at]);
        most = Math.max(most, high[at]);
      }
      time.push(x[head]); bottom.push(least); top.push(most);
    }
    return {x: Float64Array.from(time), low: Float64Array.from(bottom), high: Float64Array.from(top)};
  };

  // One mark for each square of a few pixels.
  const marks = ({x, y}, view) => {
    const [first, last] = inside(x, view);
    if (last - first <= view.cells / MARK_PX) return {x: x.subarray(first, last), y: y.subarray(first, last)};
    let low = Infinity, high = -Infinity;
    for (let at = first; at < last; at++) { low = Math.min(low, y[at]); high = Math.max(high, y[at]); }
    const rows = view.rows / MARK_PX, scale = high > low ? rows / (high - low) : 0;
    const taken = new Set(), time = [], level = [];
    for (let at = first; at < last; at++) {
      const square = Math.floor(cell(view, x[at]) / MARK_PX) * (rows + 1) + Math.floor((y[at] - low) * scale);
      if (taken.has(square)) continue;
      taken.add(square);
      time.push(x[at]); level.push(y[at]);
    }
    return {x: Float64Array.from(time), y: Float64Array.from(level)};
  };

  // The waits that are a pixel wide, and of those that share one the longest; each with all that is known of it.
  const waits = (full, view) => {
    const {x0, x1} = full, wide = (view.end - view.start) / view.cells, longest = new Map(), kept = [];
    for (let at = 0; at < x0.length; at++) {
      if (x1[at] < view.start || x0[at] > view.end) continue;
      if (x1[at] - x0[at] >= wide) { kept.push(at); continue; }
      const column = cell(view, x0[at]), other = longest.get(column);
      if (other === undefined || x1[at] - x0[at] > x1[other] - x0[other]) longest.set(column, at);
    }
    kept.push(...longest.values());
    kept.sort((one, other) => one - other);
    const data = Object.fromEntries(Object.entries(full).map(([name, column]) => [name, kept.map((at) => column[at])]));
    // What is narrower than a pixel still shows as one.
    data.x1 = kept.map((at) => Math.max(x1[at], x0[at] + wide));
    return data;
  };

  // The waits that are wide enough to show a pattern.
  const hatches = ({x0, x1}, view) => {
    const least = HATCHED_PX * (view.end - view.start) / view.width;
    const kept = [...x0.keys()].filter((at) => x1[at] - x0[at] >= least && x1[at] >= view.start && x0[at] <= view.end);
    return {x0: kept.map((at) => x0[at]), x1: kept.map((at) => x1[at])};
  };

  // A wait's name stands where the wait is long enough on the screen, in the middle of what is seen of it.
  const names = (full, view) => {
    const LETTER_PX = 6.4, AROUND_PX = 8, kept = [], x = [];
    full.name.forEach((name, at) => {
      const left = Math.max(full.from[at], view.start), right = Math.min(full.to[at], view.end);
      const wide = (right - left) / (view.end - view.start) * view.width;
      if (wide > LETTER_PX * name.length + AROUND_PX) { kept.push(at); x.push((left + right) / 2); }
    });
    const data = Object.fromEntries(Object.entries(full).map(([name, column]) => [name, kept.map((at) => column[at])]));
    return {...data, x};
  };

  const kinds = {Step: steps, VAreaStep: steps, Segment: strokes, Scatter: marks, VStrip: waits, Text: names};
  kinds.Quad = (full, view) => (full.cause ? waits : hatches)(full, view);

  return {below, of: (kind, full, view) => kinds[kind](full, view)};
})();
