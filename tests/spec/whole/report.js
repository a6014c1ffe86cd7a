// report.js: opens each page in a frame of each width, and writes what it finds, as JSON, into the document: what went
// wrong in the page, what lies over or beside what, and the values that the page marks. whole/report_spec.lua reads it.
// `pages`: { name: text of the page } and `shown`: [[name, width]], those for the screenshot, come before it.
'use strict';

// Errors of a page, from before its own script on.
const watch = '<script>window.found=[];addEventListener("error",e=>found.push("error: "+e.message));' +
  'addEventListener("securitypolicyviolation",e=>found.push("blocked: "+e.violatedDirective+" "+e.blockedURI));' +
  'console.error=console.warn=(...a)=>found.push("console: "+a.join(" "))</' + 'script>';

function boxesOf(view, svg) {
  return [...svg.querySelectorAll('text')].map(t => ({ text: t.textContent, box: t.getBoundingClientRect() }))
    .filter(t => t.box.width > 0);
}

// Texts of a picture that touch each other, or leave it, by more than a pixel.
function misplaced(view) {
  const list = [];
  let count = 0;
  for (const svg of view.document.querySelectorAll('figure svg')) {
    const frame = svg.getBoundingClientRect();
    if (frame.width === 0) continue;
    const title = svg.getAttribute('aria-label');
    const texts = boxesOf(view, svg);
    count += texts.length;
    texts.forEach((a, i) => {
      if (a.box.left < frame.left - 1 || a.box.right > frame.right + 1 || a.box.top < frame.top - 1 ||
          a.box.bottom > frame.bottom + 1) list.push(title + ': "' + a.text + '" leaves the picture');
      for (const b of texts.slice(i + 1)) {
        const wide = Math.min(a.box.right, b.box.right) - Math.max(a.box.left, b.box.left);
        const high = Math.min(a.box.bottom, b.box.bottom) - Math.max(a.box.top, b.box.top);
        if (wide > 1 && high > 2) list.push(title + ': "' + a.text + '" and "' + b.text + '"');
      }
    });
  }
  return { list, count };
}

// What a reader gets who taps: the tip below a figure, another head enlarged.
function tap(view) {
  const box = [...view.document.querySelectorAll('#architecture svg [tabindex]')]
    .find(e => e.getBoundingClientRect().width > 0);
  if (box) {
    box.scrollIntoView({ block: 'center' });
    box.dispatchEvent(new view.MouseEvent('click', { bubbles: true }));
  }
  const tip = box ? box.closest('figure').querySelector('.tip') : null;
  const place = tip ? tip.getBoundingClientRect() : null;
  const seen = !place || place.top >= 0 && place.bottom <= view.innerHeight + 1;
  const head = [...view.document.querySelectorAll('.map')].filter(e => e.getBoundingClientRect().width > 0).pop();
  if (head) head.dispatchEvent(new view.MouseEvent('click', { bubbles: true }));
  const large = view.document.querySelector('.large');
  const looks = [...view.document.querySelectorAll('.looks')].filter(e => !e.hidden);
  return { seen, tip: tip ? tip.textContent : null,
    title: box ? box.querySelector('title').textContent : null,
    head: head ? head.dataset.map : null, looks: looks.map(e => e.dataset.map).join(' '), large: large ? large.getAttribute('href') : null };
}

// What a reader who sees nothing is not told: pictures and elements that keys reach without a name or a role.
function unnamed(view) {
  const list = [];
  for (const e of view.document.querySelectorAll('figure svg, figure svg [tabindex="0"]')) {
    const title = e.getAttribute('aria-label') || (e.querySelector(':scope > title') || {}).textContent;
    if (!title || !e.getAttribute('role')) list.push(e.outerHTML.slice(0, 80));
    if (e.getAttribute('tabindex') && e.closest('svg').getAttribute('role') !== 'group') list.push('no group: ' + title);
  }
  return list;
}

function values(view) {
  const list = {};
  for (const data of view.document.querySelectorAll('data[data-key]')) list[data.dataset.key] = data.getAttribute('value');
  return list;
}

// Titles that are seen before and after a reader chooses the last entry; null where there is no choice.
function choose(view) {
  const control = view.document.querySelector('select[data-group]');
  if (!control) return null;
  const seen = () => [...view.document.querySelectorAll('section h3')].filter(e => e.getBoundingClientRect().width > 0)
    .map(e => e.textContent).filter((text, i, list) => list.indexOf(text) === i).join(',');
  const before = seen();
  control.selectedIndex = control.options.length - 1;
  control.dispatchEvent(new view.Event('change', { bubbles: true }));
  return { before, after: seen(), options: [...control.options].map(o => o.textContent).join(',') };
}

function look(name, width, height) {
  return new Promise(done => {
    const frame = document.createElement('iframe');
    frame.width = width;
    frame.height = height;
    frame.style.border = '0';
    frame.srcdoc = pages[name].replace('<style>', watch + '<style>');
    frame.onload = () => {
      const view = frame.contentWindow;
      view.document.querySelectorAll('details').forEach(d => { d.open = true; });
      const texts = misplaced(view);
      const root = view.document.documentElement;
      done({ name, width, found: view.found, scroll: root.scrollWidth - root.clientWidth, misplaced: texts.list,
        texts: texts.count, unnamed: unnamed(view), values: values(view), taps: tap(view), scripts: view.document.querySelectorAll('script').length,
        sections: [...view.document.querySelectorAll('section')].map(s => s.id),
        figures: [...view.document.querySelectorAll('figure')].map(f => ({
          caption: f.querySelector('figcaption').textContent.length, table: !!f.querySelector('table'),
          title: f.querySelector('svg').getAttribute('aria-label') })),
        title: view.document.title, text: view.document.body.innerText.length, chosen: choose(view) });
      frame.remove();
    };
    document.body.append(frame);
  });
}

// Leaves a page in the document, for the screenshot.
function show(name, width, height) {
  return new Promise(done => {
    const frame = document.createElement('iframe');
    frame.width = width;
    frame.height = height;
    frame.srcdoc = pages[name];
    frame.onload = done;
    document.body.append(frame);
  });
}

(async () => {
  const all = [];
  for (const name of Object.keys(pages)) for (const width of [1280, 390]) all.push(await look(name, width, 900));
  const result = document.createElement('pre');
  result.id = 'result';
  result.hidden = true;
  result.textContent = JSON.stringify(all);
  document.body.append(result);
  for (const [name, width] of shown) await show(name, width, 7000);
})();
