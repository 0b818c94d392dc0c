/* Search needs a worker, which browsers refuse to a page opened from a folder (file:). There, run it in a hidden frame. */
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super()
      const frame = Object.assign(document.createElement("iframe"), { hidden: true })
      document.body.append(frame)
      const inside = frame.contentWindow
      inside.postMessage = data => this.dispatchEvent(new MessageEvent("message", { data }))
      this.ready = new Promise(resolve => {
        const script = frame.contentDocument.createElement("script")
        Object.assign(script, { src: url, onload: () => resolve(inside) })
        frame.contentDocument.body.append(script)
      })
    }
    postMessage(data) {
      this.ready.then(inside => inside.dispatchEvent(new MessageEvent("message", { data })))
    }
  }
}
