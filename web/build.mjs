// Builds the page into dist/: every file compressed with gzip, all but index.html named
// after their contents so that browsers may keep them for ever.
//
//     node build.mjs
//
// The server's build.rs runs this in a copy of the folder; see there.

import { createHash } from 'node:crypto';
import { existsSync, readdirSync } from 'node:fs';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { constants, gzip } from 'node:zlib';
import { build } from 'esbuild';

const OUTPUT = 'dist';
const BEST = { level: constants.Z_BEST_COMPRESSION };

/** The sample data of the server, which build.rs copies beside this file. */
const SAMPLE = existsSync('sample') ? 'sample' : '../src/cli/write/sample';

/** Monaco asks for a worker by these labels. */
const WORKERS = {
  editor: 'monaco-editor/esm/vs/editor/editor.worker.js',
  graphql: 'monaco-graphql/esm/graphql.worker.js',
  json: 'monaco-editor/esm/vs/language/json/json.worker.js',
};

const SHARED = {
  bundle: true,
  format: 'esm',
  splitting: true,
  minify: true,
  write: false,
  metafile: true,
  legalComments: 'none', // collected in licenses.txt
  logLevel: 'warning',
  outdir: OUTPUT,
  entryNames: '[name]-[hash]',
  chunkNames: 'part-[hash]',
  assetNames: '[name]-[hash]',
  target: ['chrome120', 'firefox120', 'safari17'],
  define: { 'process.env.NODE_ENV': '"production"' },
};

/** GraphiQL imports these under old names, which bundle to modules without their exports. */
const PRETTIER = {
  'prettier/parser-babel': 'prettier/plugins/babel',
  'prettier/parser-graphql': 'prettier/plugins/graphql',
};

/** graphiql/style.css holds Monaco's style already; its own imports would double it. */
const STYLE_ONCE = {
  name: 'style-once',
  setup({ onLoad }) {
    onLoad({ filter: /[\\/]monaco-editor[\\/].*\.css$/ }, () => ({ contents: '', loader: 'css' }));
  },
};

/** Turns fonts written into a style as `data:` into files, which `font-src 'self'` covers. */
const FONTS_AS_FILES = {
  name: 'fonts-as-files',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^data:font\// }, ({ path: url }) => {
      const [, type, data] = /^data:font\/(\w+);base64,(.*)$/.exec(url);
      return { path: `font-${digestOf(data)}.${type}`, namespace: 'font', pluginData: data };
    });
    onLoad({ filter: /.*/, namespace: 'font' }, ({ pluginData }) => ({
      contents: Buffer.from(pluginData, 'base64'),
      loader: 'file',
    }));
  },
};

await rm(OUTPUT, { recursive: true, force: true });
await mkdir(OUTPUT);
const workers = await buildWorkers();
const page = await buildPage(workers.names);
const licenses = await writeLicenses([workers.metafile, page.metafile]);
await writeIndex({ ...page.names, licenses });

/** Bundles the workers; names them by label. */
async function buildWorkers() {
  const result = await build({ ...SHARED, entryPoints: entriesOf(WORKERS) });
  await writeAll(result.outputFiles);
  const names = Object.fromEntries(
    Object.keys(WORKERS).map((label) => [label, outputName(result, `${label}-`, '.js')]),
  );
  return { metafile: result.metafile, names };
}

/** Bundles script, style and icon of the page, which starts the workers called `workerNames`. */
async function buildPage(workerNames) {
  const result = await build({
    ...SHARED,
    entryPoints: { page: 'src/main.tsx', style: 'src/page.css' },
    jsx: 'automatic',
    alias: { ...PRETTIER, sample: path.resolve(SAMPLE) },
    loader: { '.ndjson': 'file', '.svg': 'file', '.woff2': 'file', '.ttf': 'file' },
    define: { ...SHARED.define, WORKERS: JSON.stringify(workerNames) },
    plugins: [STYLE_ONCE, FONTS_AS_FILES],
  });
  // The entry's own style is that of GraphiQL again: the page loads it together with the module.
  const doubled = path.basename(outputOf(result.metafile, 'src/main.tsx').cssBundle);
  await writeAll(result.outputFiles.filter((file) => path.basename(file.path) !== doubled));
  const names = {
    main: outputName(result, 'page-', '.js'),
    style: outputName(result, 'style-', '.css'),
    favicon: outputName(result, 'favicon-', '.svg'),
    editorStyle: editorStyle(result.metafile),
  };
  return { metafile: result.metafile, names };
}

/** The style of GraphiQL, which the page loads together with the module. */
function editorStyle(metafile) {
  return path.basename(outputOf(metafile, 'src/graphiql/Editor.tsx').cssBundle);
}

function outputOf({ outputs }, entryPoint) {
  const output = Object.values(outputs).find((output) => output.entryPoint === entryPoint);
  if (!output?.cssBundle) throw new Error(`${entryPoint} has no style`);
  return output;
}

function digestOf(text) {
  return createHash('sha256').update(text).digest('hex').slice(0, 8);
}

function entriesOf(modules) {
  return Object.entries(modules).map(([out, module]) => ({ in: `node_modules/${module}`, out }));
}

function outputName(result, start, end) {
  const names = result.outputFiles.map((file) => path.basename(file.path));
  const found = names.filter((name) => name.startsWith(start) && name.endsWith(end));
  if (found.length !== 1) {
    throw new Error(`one file ${start}*${end} was expected, not ${found.length}`);
  }
  return found[0];
}

async function writeAll(files) {
  await Promise.all(files.map((file) => writeCompressed(path.basename(file.path), file.contents)));
}

async function writeCompressed(name, contents) {
  await writeFile(path.join(OUTPUT, `${name}.gz`), await promisify(gzip)(contents, BEST));
}

/** The page itself, with the names of its files. */
async function writeIndex(names) {
  const template = await readFile('index.html', 'utf8');
  const html = template.replaceAll(/\{\{(\w+)\}\}/g, (_, key) => `assets/${names[key]}`);
  await writeCompressed('index.html', html);
}

/** The licences of all packages that came into the bundles, as they ask for. */
async function writeLicenses(metafiles) {
  const inputs = metafiles.flatMap((metafile) => Object.keys(metafile.inputs));
  const folders = new Set(inputs.map((input) => /.*node_modules\/(@[^/]+\/)?[^/]+/.exec(input)?.[0]));
  folders.delete(undefined);
  const texts = await Promise.all([...folders].sort().map(licenseOf));
  const text = texts.join(`\n${'-'.repeat(80)}\n\n`);
  const name = `licenses-${digestOf(text)}.txt`;
  await writeCompressed(name, text);
  return name;
}

async function licenseOf(folder) {
  const { name, version, license } = JSON.parse(await readFile(`${folder}/package.json`, 'utf8'));
  const files = readdirSync(folder).filter((file) => /^(licen[cs]e|thirdpartynotices|notice)/i.test(file));
  const texts = await Promise.all(files.map((file) => readFile(`${folder}/${file}`, 'utf8')));
  return [`${name} ${version} (${license})`, ...texts].join('\n\n');
}
