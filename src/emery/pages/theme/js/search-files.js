// SPDX-License-Identifier: Apache-2.0
// The search of pages that are opened as files: these have no workers and may not read files. So the index comes as a script, and
// the generator's worker.js works here.
if (location.protocol === "file:") {
  window.Worker = class {
    constructor(url) {
      this.place = url.slice(0, -"worker.js".length);
      window.postMessage = (said) => this.onmessage({ data: said });
    }

    postMessage(asked) {
      if (asked.init) this.load(["lunr.js", "worker.js", "search_index.js"]);
      else window.postMessage({ results: search(asked.query) });
    }

    load([first, ...others]) {
      if (!first) {
        data = searchIndex;
        return onScriptsLoaded();
      }
      const script = document.createElement("script");
      script.src = this.place + first;
      script.onload = () => this.load(others);
      document.head.append(script);
    }
  };
}
