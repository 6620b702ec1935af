// SPDX-License-Identifier: BSL-1.0
// Search in pages that are opened as files: browsers start no Worker from file://, so its script runs in a hidden frame. The
// theme's search knows such a frame by the name IFrameWorker. Loaded by every page before the theme's own scripts; does
// nothing on a page that a server gives.
if (location.protocol === "file:") {
    window.IFrameWorker = class IFrameWorker extends EventTarget {
        constructor(url) {
            super();
            const frame = document.createElement("iframe");
            frame.hidden = true;
            document.body.appendChild(frame);
            this.frame = frame;
            this.waiting = [];  // messages until the script is there
            const inner = frame.contentWindow;
            inner.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
            inner.importScripts = (...urls) =>
                urls.reduce((before, each) => before.then(() => IFrameWorker.load(inner, each)), Promise.resolve());
            IFrameWorker.load(inner, url).then(() => {
                const messages = this.waiting;
                this.waiting = null;
                messages.forEach((data) => this.postMessage(data));
            });
        }

        static load(inner, url) {
            return new Promise((done, failed) => {
                const script = inner.document.createElement("script");
                script.src = url;
                script.onload = done;
                script.onerror = failed;
                inner.document.body.appendChild(script);
            });
        }

        postMessage(data) {
            if (this.waiting) {
                this.waiting.push(data);
            } else {
                this.frame.contentWindow.dispatchEvent(new MessageEvent("message", { data }));
            }
        }

        terminate() {
            this.frame.remove();
        }
    };
    window.Worker = window.IFrameWorker;
}
