// Runs in every document before its own scripts.
(() => {
  // A phone has one window here: what would open another one opens in its place.
  window.open = (url) => { if (url) location.href = url; return null; };
  addEventListener('click', (event) => {
    const link = event.target instanceof Element && event.target.closest('a[target], area[target]');
    if (link) link.removeAttribute('target');
  }, true);
  addEventListener('submit', (event) => event.target.removeAttribute('target'), true);

  // The list of a <select> is a window of the system, which a headless browser does not draw (and
  // which stops one that draws on demand): here it is a list in the page.
  // Pickers of dates, times, colours and files are such windows too: those fields are typed into.
  const picked = ['date', 'time', 'datetime-local', 'month', 'week', 'color', 'file'];
  addEventListener('click', (event) => {
    const field = event.target;
    if (field instanceof HTMLInputElement && picked.includes(field.type)) event.preventDefault();
  }, true);
  let list = null;
  const close = () => { if (list) list.remove(); list = null; };
  const choose = (select, option) => {
    close();
    if (option.disabled || select.value === option.value) return;
    select.value = option.value;
    select.dispatchEvent(new Event('input', { bubbles: true }));
    select.dispatchEvent(new Event('change', { bubbles: true }));
  };
  const open = (select) => {
    const { left, bottom, top, width } = select.getBoundingClientRect();
    const room = innerHeight - bottom;
    list = document.createElement('div');
    list.setAttribute('role', 'listbox');
    list.style.cssText = 'position:fixed;z-index:2147483647;background:#fff;color:#000;' +
      'border:1px solid #888;overflow:auto;box-shadow:0 2px 6px rgba(0,0,0,.4);' +
      `left:${left}px;min-width:${width}px;max-height:${Math.max(room, top) - 2}px;` +
      (room >= top ? `top:${bottom}px` : `bottom:${innerHeight - top}px`);
    for (const option of select.options) {
      const row = document.createElement('div');
      row.setAttribute('role', 'option');
      row.setAttribute('aria-selected', String(option.selected));
      row.style.cssText = 'padding:2px 6px;font:13px sans-serif;' +
        (option.selected ? 'background:#cde;' : '') + (option.disabled ? 'color:#888;' : '');
      row.textContent = option.text;
      row.addEventListener('click', (event) => {
        event.stopPropagation();
        choose(select, option);
      });
      list.appendChild(row);
    }
    document.documentElement.appendChild(list);
  };
  const listed = (target) => {
    const select = target instanceof Element && target.closest('select');
    return select && !select.multiple && select.size <= 1 && !select.disabled ? select : null;
  };
  addEventListener('keydown', (event) => { // keys open those windows, too
    const field = event.target, select = listed(field);
    const picks = field instanceof HTMLInputElement && picked.includes(field.type);
    if (picks && event.key === ' ') event.preventDefault();
    if (!select || (event.key !== ' ' && event.key !== 'Enter')) return;
    event.preventDefault();
    if (list) close(); else open(select);
  }, true);
  addEventListener('mousedown', (event) => {
    if (list && list.contains(event.target)) return;
    const before = list;
    close();
    const select = listed(event.target);
    if (!select) return;
    event.preventDefault();
    select.focus();
    if (!before) open(select);
  }, true);
})();
