/* Search on pages opened from the disk, where browsers allow no Worker: an iframe in its place.

   Material's plugin `offline` would load the same from unpkg.com (iframe-worker by Martin Donath,
   MIT), which needs the Internet. It leaves that out where a script of this name is given. */
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      this.loaded = new Promise((resolve) => this.frame.addEventListener("load", resolve));
      this.frame.srcdoc = `<script>
        postMessage = (data) => parent.postMessage(data, "*");
        importScripts = (...urls) => urls.reduce((before, url) => before.then(() =>
          new Promise((resolve) => {
            const script = document.createElement("script");
            script.src = url;
            script.onload = resolve;
            document.head.append(script);
          })), Promise.resolve());
      </script><script src="${url}"></script>`;
      window.addEventListener("message", (event) => {
        if (event.source === this.frame.contentWindow) {
          this.dispatchEvent(new MessageEvent("message", { data: event.data }));
        }
      });
      document.body.append(this.frame);
    }

    postMessage(data) {
      this.loaded.then(() =>
        this.frame.contentWindow.dispatchEvent(new MessageEvent("message", { data })));
    }
  };
}
