/* What the report's figures and the live page's have in common: numbers in words, ticks, and elements of a drawing. */
const drawing = (() => {
  'use strict';
  const whole = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });
  const raised = (n) => String(n).replace(/./g, (c) => (c === '-' ? '⁻' : '⁰¹²³⁴⁵⁶⁷⁸⁹'[c]));
  function say(v, digits = 4) {
    if (v === undefined) return '';
    if (v === null) return '–';
    const size = Math.abs(v);
    if (size !== 0 && (size < 1e-4 || size >= 1e7)) {
      const [m, e] = v.toExponential(digits - 1).split('e');
      const mantissa = String(Number(m));
      return (mantissa === '1' ? '' : mantissa + '×') + '10' + raised(Number(e));
    }
    return size >= 1000 ? whole.format(v) : String(Number(v.toPrecision(digits)));
  }

  /* What tells labels apart is often their end. */
  function short(text, most) {
    const all = [...text], tail = Math.floor(most * 2 / 5);
    return all.length <= most ? text : all.slice(0, most - tail - 1).join('') + '…' + all.slice(-tail).join('');
  }

  /* The same ticks as in the drawings: 1, 2, 5 times powers of ten, or powers of ten alone. */
  function ticks(min, max, log, wanted) {
    const out = [];
    if (!(max > min)) return out;
    if (!log) {
      const raw = (max - min) / wanted, power = 10 ** Math.floor(Math.log10(raw)), n = raw / power;
      const step = power * (n <= 1.5 ? 1 : n <= 3 ? 2 : n <= 7 ? 5 : 10);
      for (let i = Math.ceil(min / step - 1e-9); i <= max / step + 1e-9; i++) out.push(i * step + 0);
      return out;
    }
    const first = Math.ceil(Math.log10(min) - 1e-9), last = Math.floor(Math.log10(max) + 1e-9);
    if (last - first >= 2) {
      const stride = 1 + Math.floor((last - first) / Math.max(wanted, 8));
      for (let e = first; e <= last; e += stride) out.push(10 ** e);
      return out;
    }
    if (max / min < 3) return ticks(min, max, false, wanted);
    for (let e = first - 1; e <= last; e++)
      for (const part of [1, 2, 5]) {
        const v = part * 10 ** e;
        if (v >= min * (1 - 1e-9) && v <= max * (1 + 1e-9)) out.push(v);
      }
    return out;
  }

  /* An element of a drawing, with attributes and children. */
  function svg(tag, attributes, ...children) {
    const element = document.createElementNS('http://www.w3.org/2000/svg', tag);
    for (const [key, value] of Object.entries(attributes ?? {})) element.setAttribute(key, value);
    element.append(...children);
    return element;
  }

  return { whole, say, short, ticks, svg };
})();
