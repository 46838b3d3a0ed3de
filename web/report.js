/* The report's figures: the drawings that are in the page, with values under the cursor, curves that can be hidden, and
 * buttons to save or print them. Scripts change nothing about the drawings themselves: what is shown is what is saved. */
(() => {
  'use strict';
  const data = JSON.parse(document.getElementById('data').textContent);
  const { whole, say, short, svg } = drawing;
  const pair = (text) => text.split(' ').map(Number);

  /* A panel of a drawing: where it lies, and what its width means. */
  class Frame {
    constructor(group) {
      this.group = group;
      [this.left, this.right] = pair(group.dataset.across);
      [this.top, this.bottom] = pair(group.dataset.down);
      [this.low, this.high] = pair(group.dataset.values);
      this.log = group.dataset.scale === 'log';
    }
    has(x, y) {
      return x >= this.left && x <= this.right && y >= this.top && y <= this.bottom;
    }
    value(x) {
      const share = (x - this.left) / (this.right - this.left);
      return this.log ? this.low * (this.high / this.low) ** share : this.low + share * (this.high - this.low);
    }
    place(value) {
      const share = this.log ? Math.log(value / this.low) / Math.log(this.high / this.low) : (value - this.low) / (this.high - this.low);
      return this.left + share * (this.right - this.left);
    }
  }

  class Figure {
    constructor(element) {
      this.element = element;
      this.world = data.worlds[Number(element.dataset.world)];
      this.still = element.querySelector('.still');
      this.legend = element.querySelector('.legend');
      this.hidden = new Set();
      this.items = this.list();
      this.drawLegend();
      this.listen();
      this.tell(null);
    }

    listen() {
      const on = (what, act) => this.element.querySelectorAll(what).forEach((b) => b.addEventListener('click', () => act(b)));
      on('[data-axis]', (b) => this.rescale(b.dataset.scale));
      on('[data-svg]', () => this.save());
      on('[data-curves]', (b) => b.setAttribute('aria-expanded', String(this.element.classList.toggle('listed'))));
      on('[data-pdf]', () => this.print());
      for (const picture of this.still.querySelectorAll('svg.broad, svg.slim')) {
        const frames = [...picture.querySelectorAll('.frame')].map((g) => new Frame(g));
        picture.addEventListener('pointermove', (event) => this.point(picture, frames, event));
        picture.addEventListener('pointerleave', () => this.point(picture, frames, null));
      }
    }

    rescale(scale) {
      this.still.dataset.shown = scale;
      this.element.querySelectorAll('[data-axis]').forEach((b) => b.setAttribute('aria-pressed', String(b.dataset.scale === scale)));
    }

    /* --- Legend: one button for each curve, with its value under the cursor, or at the end --- */

    drawLegend() {
      this.legend.hidden = this.items.length === 0;
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
      const shade = item.shade === 0 ? '' : item.shade > 0 ? ` up${item.shade}` : ` down${-item.shade}`;
      return svg('svg', { width: 30, height: 10, 'aria-hidden': 'true', class: 'plot' },
        svg('line', { x1: 0, x2: 30, y1: 5, y2: 5, 'stroke-width': 2, 'stroke-dasharray': item.dash || 'none', class: `c h${item.hue}${shade}` }));
    }

    toggle(item, button) {
      const hide = !this.hidden.has(item.series);
      if (hide) this.hidden.add(item.series);
      else this.hidden.delete(item.series);
      button.setAttribute('aria-pressed', String(!hide));
      this.still.querySelectorAll(`[data-series="${item.series}"]`).forEach((g) => { g.style.display = hide ? 'none' : ''; });
    }

    tell(at) {
      this.where.textContent = this.place(at);
      for (const item of this.items) {
        const value = this.read(item, at);
        item.shown.textContent = Array.isArray(value) ? value.map((v) => say(v)).join(' to ') : say(value);
      }
    }

    /* --- The cursor: a line in every panel, where the nearest value is --- */

    point(picture, frames, event) {
      picture.querySelectorAll('.cursor').forEach((line) => line.remove());
      let frame;
      if (event) {
        const p = new DOMPoint(event.clientX, event.clientY).matrixTransform(picture.getScreenCTM().inverse());
        frame = frames.find((f) => f.has(p.x, p.y));
        if (frame) {
          const at = this.nearest(frame.value(p.x), frame.log);
          for (const f of frames) {
            const x = f.place(this.across(at));
            f.group.append(svg('line', { class: 'cursor', stroke: '#555555', x1: x, x2: x, y1: f.top, y2: f.bottom }));
          }
          this.tell(at);
        }
      }
      if (!frame) this.tell(null);
    }

    /* --- Saving --- */

    drawing() {
      const all = [...this.still.querySelectorAll('svg.broad')];
      return all.find((s) => this.element.dataset.figure !== 'curves' || s.classList.contains(this.still.dataset.shown));
    }

    save() {
      const copy = this.drawing().cloneNode(true);
      copy.querySelectorAll('.cursor').forEach((line) => line.remove());
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
      return this.world.agents.map((a, i) => ({ ...a, series: i })).filter((a) => a.mean);
    }
    nearest(users) {
      let low = 0, high = data.at.length - 1;
      while (low < high) {
        const middle = (low + high) >> 1;
        if (data.at[middle] < users) low = middle + 1;
        else high = middle;
      }
      return low > 0 && users - data.at[low - 1] < data.at[low] - users ? low - 1 : low;
    }
    across(index) {
      return data.at[index];
    }
    place(index) {
      return `regret after ${whole.format(index === null ? data.episodes : data.at[index])} users`;
    }
    read(item, index) {
      return item.mean[index === null ? item.mean.length - 1 : index];
    }
  }

  class Price extends Figure {
    list() {
      const families = this.world.families.filter((f) => f.points.some((p) => p[0] > 0));
      return [...families, ...this.world.levels];
    }
    nearest(epsilon) {
      const all = this.items.flatMap((i) => (i.points || []).map((p) => p[0])).filter((e) => e > 0);
      const distance = (e) => Math.abs(Math.log(e / epsilon));
      return all.reduce((best, e) => (distance(e) < distance(best) ? e : best));
    }
    across(epsilon) {
      return epsilon;
    }
    place(epsilon) {
      return epsilon === null ? `regret after ${whole.format(data.episodes)} users` : `regret at ε = ${say(epsilon)}`;
    }
    read(item, epsilon) {
      if (!item.points) return item.value;
      if (epsilon === null) {
        const values = item.points.map((p) => p[1]);
        return values.length === 1 ? values[0] : [Math.min(...values), Math.max(...values)];
      }
      const point = item.points.find((p) => p[0] === epsilon);
      return point ? point[1] : null;
    }
  }

  document.querySelectorAll('[data-script]').forEach((e) => { e.hidden = false; });
  document.querySelectorAll('[data-print]').forEach((b) => b.addEventListener('click', () => print()));
  document.querySelectorAll('figure[data-figure]').forEach((f) => (f.dataset.figure === 'curves' ? new Curves(f) : new Price(f)));
})();
