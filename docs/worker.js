// A page that is opened from a disk may not start a worker: the search of the theme runs in a frame that is not seen.
if (location.protocol === "file:") window.Worker = class extends EventTarget {
  constructor(url) {
    super();
    const frame = document.createElement("iframe");
    frame.hidden = true;
    document.body.append(frame);
    const inside = this.inside = frame.contentWindow;
    window.addEventListener("message", ({source, data}) => {
      if (source === inside) this.dispatchEvent(new MessageEvent("message", {data}));
    });
    inside.postMessage = data => window.dispatchEvent(new MessageEvent("message", {data, source: inside}));
    inside.importScripts = async (...urls) => {
      for (const url of urls) await this.load(url);
    };
    this.ready = this.load(url);
  }
  load(url) {
    return new Promise((loaded, failed) => {
      const script = this.inside.document.createElement("script");
      Object.assign(script, {src: url, onload: loaded, onerror: failed});
      this.inside.document.body.append(script);
    });
  }
  async postMessage(data) {
    await this.ready;
    this.inside.dispatchEvent(new MessageEvent("message", {data}));
  }
};
