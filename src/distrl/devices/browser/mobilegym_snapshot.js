// MobileGym's state as JSON, and back. `mobilegym_device` calls `write`, loads the page anew, and
// calls `write` and `reopen`.
({
  // `running`: the apps, the one that was used last at the end. When a task was used, and from where
  // it was launched, is left out, as MobileGym's own judge leaves it out.
  save() {
    const { tasks, isLauncherVisible } = __OS__.getState();
    const running = [...tasks].sort((one, other) => one.lastActiveAt - other.lastActiveAt)
      .map(({ taskId, rootAppId }) => [taskId, rootAppId, __OS__.getAppRoute(rootAppId)?.path ?? '/']);
    const { apps, os } = __SIM__.getState();
    const lasting = os.tasks.map(({ lastActiveAt, launchedByTaskId, ...task }) => task);
    const state = { apps, os: { ...os, tasks: lasting } };
    return JSON.stringify({ state, running, home: isLauncherVisible });
  },

  // setState writes parts of the system by setters with effects of their own: only those that have
  // changed are written.
  write({ state }) {
    const now = __SIM__.getState().os;
    const parts = ['settings', 'hardware', 'permissions', 'preferences', 'providers']
      .filter((part) => JSON.stringify(now[part]) !== JSON.stringify(state.os[part]));
    const os = Object.fromEntries(parts.map((part) => [part, state.os[part]]));
    __SIM__.setState({ apps: state.apps, os }, { deep: false });
  },

  // Whenever an app is opened, a number is taken for its task; MobileGym's judge compares the numbers.
  async reopen({ running, home }) {
    const number = (taskId) => Number(taskId.replace(/\D/g, ''));
    const frame = () => new Promise((drawn) => requestAnimationFrame(() => setTimeout(drawn)));
    const shows = async (app, path) => {
      for (let looks = 0; looks < 100 && __OS__.getAppRoute(app)?.path !== path; looks += 1) {
        await frame();
      }
    };
    const begin = (app) => {
      __OS__.openApp(app);
      return __OS__.getState().tasks.find(({ rootAppId }) => rootAppId === app).taskId;
    };
    for (const [taskId, app] of [...running].sort(([one], [other]) => number(one) - number(other))) {
      for (let begun = begin(app); number(begun) < number(taskId); begun = begin(app)) {
        __OS__.closeTask(begun);
      }
      await shows(app, '/');
    }
    for (const [, app, path] of running) {
      __OS__.openApp(app, path === '/' ? undefined : path);
      await shows(app, path);
    }
    if (home) __OS__.goHome();
  },
})
