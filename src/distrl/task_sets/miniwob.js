// Begin an episode of a MiniWoB++ page: called with {seed, mode}; returns the instruction.
// core.* and WOB_* are the page's own (html/core/core.js of the package miniwob).
async ({ seed, mode }) => {
  core.EPISODE_MAX_TIME = 1e9; // steps are limited, not seconds: the wall clock is no judge
  core.endEpisode(0);
  Math.seedrandom(seed);
  if (core.setDataMode) core.setDataMode(mode);
  core.startEpisodeReal();
  core.startEpisode = () => {}; // an ended page stays as it is; only its first result counts

  const style = document.createElement('style'); // what is for its authors, beside the page
  style.textContent = '#reward-display, #click-canvas { display: none !important } ' +
    'html { overflow: hidden; touch-action: none }'; // the page itself is never moved
  document.head.appendChild(style);

  // jQuery UI knows no touch: a finger on what it lets people drag is a mouse.
  const dragged = '.ui-draggable, .ui-slider-handle, .ui-slider, .ui-sortable-handle, ' +
    '.ui-resizable-handle, .ui-sortable > *';
  const mouse = { touchstart: 'mousedown', touchmove: 'mousemove', touchend: 'mouseup' };
  let held = null;
  for (const type of Object.keys(mouse)) {
    document.addEventListener(type, (event) => {
      if (type === 'touchstart') held = event.target.closest && event.target.closest(dragged);
      if (!held) return;
      const { clientX, clientY, screenX, screenY } = event.changedTouches[0];
      const made = new MouseEvent(mouse[type], {
        bubbles: true, cancelable: true, view: window, button: 0, detail: 1,
        buttons: type === 'touchend' ? 0 : 1, clientX, clientY, screenX, screenY,
      });
      (type === 'touchstart' ? event.target : document).dispatchEvent(made);
      if (type !== 'touchstart') event.preventDefault();
    }, { capture: true, passive: false });
  }

  for (let waits = 0; !WOB_TASK_READY && waits < 200; waits++) {
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  const said = core.getUtterance();
  return typeof said === 'string' ? said : said.utterance;
}
