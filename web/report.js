/* The report's figures come alive: uPlot where it was built in, the drawings otherwise. What is shown on the screen (the
 * scale, which curves) is also what is printed and saved, because the drawings follow. */
(() => {
  'use strict';
  const data = JSON.parse(document.getElementById('data').textContent);
  const plots = typeof uPlot === 'function';
  const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const colour = (i) => css('--c' + i);
  const positive = (v) => (v > 0 ? v : null);
  const { whole, say, short, ticks, svg } = drawing;

  function axis(log, side, label, wanted, size) {
    return {
      side, label, size, labelSize: 22, labelGap: 2, gap: 6,
      stroke: css('--soft'), font: '12px ' + css('--sans'), labelFont: '12.5px ' + css('--sans'),
      grid: { stroke: css('--grid'), width: 1, show: side === 3 },
      ticks: { stroke: css('--soft'), width: 1, size: 5, show: side === 2 },
      border: { stroke: css('--soft'), width: 1, show: side === 2 },
      splits: (u, i, min, max) => ticks(min, max, log(), wanted()),
      filter: (u, splits) => splits,
      values: (u, values) => values.map((v) => say(v)),
    };
  }

  class Figure {
    constructor(element) {
      this.element = element;
      this.world = data.worlds[Number(element.dataset.world)];
      this.still = element.querySelector('.still');
      this.live = element.querySelector('.live');
      this.legend = element.querySelector('.legend');
      this.hidden = new Set();
      this.scale = { x: 'linear', y: this.still.dataset.shown };
      this.plot = null;
      this.items = this.list();
      this.drawLegend();
      this.listen();
      if (plots && this.items.length > 0) {
        element.classList.add('has-plots');
        this.live.hidden = false;
        this.draw();
        new ResizeObserver(() => this.fit()).observe(this.live);
        matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.draw());
      }
      this.tell(null);
    }

    listen() {
      const on = (what, act) => this.element.querySelectorAll(what).forEach((b) => b.addEventListener('click', () => act(b)));
      on('[data-axis]', (b) => this.rescale(b.dataset.axis, b.dataset.scale));
      on('[data-reset]', () => this.whole());
      on('[data-svg]', () => this.save());
      on('[data-pdf]', () => this.print());
    }

    rescale(which, scale) {
      this.scale[which] = scale;
      this.element.querySelectorAll(`[data-axis="${which}"]`).forEach((b) => b.setAttribute('aria-pressed', b.dataset.scale === scale));
      if (which === 'y') this.still.dataset.shown = scale;
      if (this.plot) this.draw();
    }

    /* --- Legend: one button for each curve, with its value under the cursor, or at the end --- */

    drawLegend() {
      this.legend.hidden = false;
      this.where = document.createElement('div');
      this.where.className = 'where';
      this.legend.replaceChildren(this.where);
      for (const item of this.items) {
        const button = document.createElement('button');
        button.type = 'button';
        button.setAttribute('aria-pressed', 'true');
        button.title = item.label;
        const name = document.createElement('span'), value = document.createElement('span');
        name.className = 'name';
        name.textContent = short(item.label, 34);
        value.className = 'value';
        button.append(this.swatch(item), name, value);
        button.addEventListener('click', () => this.toggle(item, button));
        item.shown = value;
        this.legend.append(button);
      }
    }

    swatch(item) {
      return svg('svg', { width: 26, height: 10, 'aria-hidden': 'true', class: 'plot' },
        svg('line', { x1: 0, x2: 26, y1: 5, y2: 5, 'stroke-width': 2, 'stroke-dasharray': item.dash || 'none', class: 'c' + item.colour }));
    }

    toggle(item, button) {
      const hide = !this.hidden.has(item.series);
      if (hide) this.hidden.add(item.series);
      else this.hidden.delete(item.series);
      button.setAttribute('aria-pressed', String(!hide));
      this.still.querySelectorAll(`[data-series="${item.series}"]`).forEach((g) => { g.style.display = hide ? 'none' : ''; });
      if (this.plot) for (const i of item.drawn) this.plot.setSeries(i, { show: !hide });
    }

    tell(index) {
      this.where.textContent = this.place(index);
      for (const item of this.items) item.shown.textContent = say(this.read(item, index));
    }

    /* --- The plot --- */

    draw() {
      const view = this.options();
      if (this.plot) this.plot.destroy();
      const width = Math.max(this.live.clientWidth, 240);
      this.plot = new uPlot({
        width, height: width < 520 ? 320 : 420, padding: [12, 26, 0, 0], pxAlign: 0,
        legend: { show: false },
        cursor: {
          drag: { x: true, y: false, setScale: true, dist: 5 },
          points: { size: 7, fill: (u, i) => u.series[i].colour || 'transparent', stroke: 'transparent' },
          y: false, ...view.cursor,
        },
        scales: {
          x: { time: false, distr: view.xLog ? 3 : 1, range: (u, min, max) => [min, max] },
          y: { distr: view.yLog ? 3 : 1, range: (u, min, max) => view.range(min, max) },
        },
        axes: [
          axis(() => view.xLog, 2, view.xName, () => Math.max(2, Math.floor(this.live.clientWidth / 110)), 34),
          axis(() => view.yLog, 3, 'regret', () => 6, 62),
        ],
        series: view.series, bands: view.bands,
        hooks: {
          setCursor: [(u) => this.tell(u.cursor.left >= 0 ? u.cursor.idx : null)],
          setScale: [(u, key) => key === 'x' && this.zoomed(u)],
          drawAxes: view.below ? [view.below] : [],
        },
      }, view.data, this.live);
      this.bounds = [view.data[0][0], view.data[0][view.data[0].length - 1]];
      this.element.plot = this.plot;
      this.element.querySelector('[data-reset]').hidden = true;
    }

    zoomed(u) {
      if (!this.bounds) return;
      const { min, max } = u.scales.x;
      this.element.querySelector('[data-reset]').hidden = min <= this.bounds[0] && max >= this.bounds[1];
    }

    whole() {
      this.plot.setScale('x', { min: this.bounds[0], max: this.bounds[1] });
    }

    fit() {
      const width = this.live.clientWidth;
      if (this.plot && width > 0 && width !== this.plot.width) this.plot.setSize({ width, height: width < 520 ? 320 : 420 });
    }

    /* --- Saving --- */

    drawing() {
      return [...this.still.querySelectorAll('svg')].find((s) => this.element.dataset.figure !== 'curves' || s.classList.contains(this.scale.y));
    }

    save() {
      const copy = this.drawing().cloneNode(true);
      copy.querySelectorAll('[data-series]').forEach((g) => { if (g.style.display === 'none') g.remove(); });
      const text = '<?xml version="1.0" encoding="UTF-8"?>\n' + new XMLSerializer().serializeToString(copy) + '\n';
      const link = document.createElement('a');
      link.href = URL.createObjectURL(new Blob([text], { type: 'image/svg+xml' }));
      link.download = this.element.dataset.file + '.svg';
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 1000);
    }

    /* A page of the figure's own size, with nothing else on it. */
    print() {
      const box = this.drawing().viewBox.baseVal, page = document.createElement('style');
      page.textContent = `@page { size: ${box.width}px ${box.height}px; margin: 0; }`;
      document.head.append(page);
      document.body.dataset.only = this.element.id;
      this.element.classList.add('alone');
      const done = () => {
        page.remove();
        delete document.body.dataset.only;
        this.element.classList.remove('alone');
      };
      addEventListener('afterprint', done, { once: true });
      print();
    }
  }

  class Curves extends Figure {
    list() {
      return this.world.agents.map((a, i) => ({ ...a, series: i })).filter((a) => a.mean)
        .map((a, i) => ({ ...a, drawn: [3 * i + 1, 3 * i + 2, 3 * i + 3] }));
    }
    place(index) {
      const at = index === null ? data.episodes : this.plot.data[0][index];
      return `regret after ${whole.format(at)} users`;
    }
    read(item, index) {
      if (index === null) return item.mean[item.mean.length - 1];
      return this.plot.data[item.drawn[0]][index] ?? (this.scale.y === 'log' ? 0 : null);
    }
    options() {
      const xLog = this.scale.x === 'log', yLog = this.scale.y === 'log';
      const values = (v) => (xLog ? [] : [yLog ? null : 0]).concat(yLog ? v.map(positive) : v);
      const rows = [(xLog ? [] : [0]).concat(data.at)], series = [{}], bands = [];
      for (const item of this.items) {
        const show = !this.hidden.has(item.series), line = colour(item.colour);
        series.push({ label: item.label, show, stroke: line, colour: line, width: 1.8, dash: item.dash ? item.dash.split(' ').map(Number) : undefined, points: { show: false } });
        const edge = { label: item.label, show, stroke: 'transparent', width: 0, points: { show: false } };
        series.push({ ...edge }, { ...edge });
        bands.push({ series: [item.drawn[1], item.drawn[2]], fill: line + '2b' });
        rows.push(values(item.mean), values(item.high || item.mean), values(item.low || item.mean));
      }
      const range = (min, max) => {
        if (min === null) return yLog ? [1, 10] : [0, 1];
        if (yLog) return [min / 1.3, max * 1.3];
        const zoomed = this.plot && !this.element.querySelector('[data-reset]').hidden, air = (max - min || max || 1) * 0.04;
        return [zoomed ? Math.max(0, min - air) : 0, max + air];
      };
      return { xLog, yLog, xName: 'users', data: rows, series, bands, range };
    }
  }

  class Price extends Figure {
    list() {
      const families = this.world.families.filter((f) => f.points.length > 0), levels = this.world.levels;
      return [...families, ...levels].map((item, i) => ({ ...item, drawn: [i + 1] }));
    }
    epsilon(index) {
      const x = this.plot.data[0];
      return x[Math.min(Math.max(index, 1), x.length - 2)];
    }
    place(index) {
      return index === null ? `regret after ${whole.format(data.episodes)} users` : `regret at ε = ${say(this.epsilon(index))}`;
    }
    read(item, index) {
      if (!item.points) return item.value;
      if (index === null) return item.points.length === 1 ? item.points[0][1] : undefined;
      const point = item.points.find((p) => p[0] === this.epsilon(index));
      return point ? point[1] : null;
    }
    options() {
      const all = [...new Set(this.items.flatMap((i) => (i.points || []).map((p) => p[0])))].sort((a, b) => a - b);
      const spread = Math.max(Math.sqrt(10 / (all[all.length - 1] / all[0])), 1) * 1.6;
      const x = [all[0] / spread, ...all, all[all.length - 1] * spread];
      const rows = [x], series = [{}];
      for (const item of this.items) {
        const line = colour(item.colour), dash = item.dash ? item.dash.split(' ').map(Number) : undefined;
        const points = item.points
          ? { show: true, size: 9, width: 1.8, stroke: line, fill: item.hollow ? css('--paper') : line }
          : { show: false };
        series.push({ label: item.label, show: !this.hidden.has(item.series), stroke: line, colour: line, width: item.points ? 1.8 : 1.4, dash, spanGaps: true, points });
        rows.push(item.points ? x.map((e) => (item.points.find((p) => p[0] === e) || [])[1] ?? null).map((v) => (v === null ? null : positive(v))) : x.map(() => item.value));
      }
      const range = (min, max) => (min === null ? [1, 10] : [min / 1.5, max * 1.5]);
      const below = (u) => this.bars(u);
      const cursor = { dataIdx: (u, s, i) => Math.min(Math.max(i, 1), x.length - 2) };
      return { xLog: true, yLog: true, xName: 'ε, as claimed', data: rows, series, range, below, cursor };
    }
    /* Standard errors. */
    bars(u) {
      const pen = u.ctx;
      pen.save();
      pen.setLineDash([]);
      pen.lineWidth = 1.2 * devicePixelRatio;
      for (const item of this.items) {
        if (!item.points || this.hidden.has(item.series)) continue;
        pen.strokeStyle = colour(item.colour);
        for (const [e, regret, error] of item.points) {
          if (!(error > 0) || e < u.scales.x.min || e > u.scales.x.max) continue;
          const x = u.valToPos(e, 'x', true), low = Math.max(regret - error, u.scales.y.min);
          pen.beginPath();
          pen.moveTo(x, u.valToPos(low, 'y', true));
          pen.lineTo(x, u.valToPos(regret + error, 'y', true));
          pen.stroke();
        }
      }
      pen.restore();
    }
  }

  document.querySelectorAll('[data-script]').forEach((e) => { e.hidden = false; });
  document.querySelectorAll('[data-plots]').forEach((e) => { e.hidden = !plots; });
  document.querySelectorAll('[data-print]').forEach((b) => b.addEventListener('click', () => print()));
  document.querySelectorAll('figure').forEach((f) => (f.dataset.figure === 'curves' ? new Curves(f) : new Price(f)));
})();
