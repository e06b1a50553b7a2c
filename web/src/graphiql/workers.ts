// Monaco, the editor in GraphiQL, checks and completes text in web workers. They are files
// beside this one, so that the Content-Security-Policy needs no `blob:`; `build.mjs` fills
// in their names.
declare const WORKERS: Record<string, string>;

const environment = {
  getWorker(_id: string, label: string) {
    const file = WORKERS[label] ?? WORKERS['editor'] ?? '';
    return new Worker(new URL(file, import.meta.url), { type: 'module', name: label });
  },
};

Object.assign(globalThis, { MonacoEnvironment: environment });
