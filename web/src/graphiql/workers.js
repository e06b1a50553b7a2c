// Monaco, the editor in GraphiQL, checks and completes text in web workers. They are files
// beside this one, so that the Content-Security-Policy needs no `blob:`; `build.mjs` fills
// in their names.
/* global WORKERS */
const FILES = WORKERS;

globalThis.MonacoEnvironment = {
  getWorker(_id, label) {
    const file = FILES[label] ?? FILES.editor;
    return new Worker(new URL(file, import.meta.url), { type: 'module', name: label });
  },
};
