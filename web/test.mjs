// Runs the unit tests of the page's pure parts: bundles src/**/*.test.ts and runs them with Node.
//
//     npm test

import { spawnSync } from 'node:child_process';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { build } from 'esbuild';

const files = await readdir('src', { recursive: true });
const tests = files.filter((file) => file.endsWith('.test.ts')).map((file) => path.join('src', file));
const outdir = await mkdtemp(path.join(tmpdir(), 'phyllo-page-'));
await build({
  entryPoints: tests,
  outdir,
  bundle: true,
  format: 'esm',
  platform: 'node',
  outExtension: { '.js': '.mjs' },
  // `main` of jsonc-parser is a module for browsers of old, which cannot be bundled.
  mainFields: ['module', 'main'],
  logLevel: 'warning',
});
const built = (await readdir(outdir, { recursive: true })).filter((file) => file.endsWith('.mjs'));
const { status } = spawnSync('node', ['--test', ...built.map((file) => path.join(outdir, file))], { stdio: 'inherit' });
await rm(outdir, { recursive: true });
process.exitCode = status ?? 1;
