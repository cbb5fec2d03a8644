// Bundles the project's own code, so that a start reads few files. Packages stay in node_modules.
// Usage: node ops/build/build.mjs [directory]
// Without a directory: builds into a folder named by the content of the sources, unless it exists, and lets `dist` link
// to it. Several builds may run at once, and a running process keeps the files that it was started from.
import { build } from 'esbuild';
import { createHash, randomUUID } from 'node:crypto';
import { cp, lstat, mkdir, readdir, readFile, readlink, rename, rm, stat, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { buildClient } from './client.mjs';

/** `PALIMPSEST_LICENSE_MODULE=false npm run build` builds without license support. */
const licenseModule = process.env.PALIMPSEST_LICENSE_MODULE ?? 'true';
if (licenseModule !== 'true' && licenseModule !== 'false')
  throw new Error('PALIMPSEST_LICENSE_MODULE must be true or false');

/** Everything that the bundle is made of. */
const SOURCES = ['domain', 'application', 'projections', 'infrastructure', 'api', 'ops/build', 'package-lock.json'];
const BUILDS = '.cache/builds';
const LINK = 'dist';
/** A build takes seconds. */
const UNFINISHED_MS = 3_600_000;

const outdir = process.argv[2];
if (outdir === undefined) await buildOnce();
else {
  await rm(outdir, { recursive: true, force: true });
  await bundleInto(outdir);
}

/** Builds unless these sources were built before, and links to the build. */
async function buildOnce() {
  const folder = `${BUILDS}/${await digestOfSources()}`;
  if (!(await exists(folder))) {
    const unfinished = `${folder}.${randomUUID()}`;
    await mkdir(BUILDS, { recursive: true });
    await bundleInto(unfinished);
    // Renaming is atomic: no process sees a partial build. Of several builds at once the first one wins.
    await rename(unfinished, folder).catch(() => rm(unfinished, { recursive: true, force: true }));
  }
  await linkTo(folder);
  await removeUnfinished();
}

/** Makes `dist` a link to the folder, in one step. */
async function linkTo(folder) {
  if ((await readlink(LINK).catch(() => undefined)) === folder) return;
  // Earlier versions built into a folder; a link cannot replace it.
  const isFolder = (await lstat(LINK).catch(() => undefined))?.isDirectory() === true;
  // Beside `dist`, because a rename does not cross file systems and `.cache` may be on another one.
  const draft = `${LINK}.${randomUUID()}`;
  const replaced = `${LINK}.${randomUUID()}`;
  if (isFolder) await rename(LINK, replaced).catch(() => undefined);
  await symlink(folder, draft, 'dir');
  await rename(draft, LINK);
  if (isFolder) await rm(replaced, { recursive: true, force: true });
}

/** Removes what builds that were killed have left behind. A build that runs has changed its folder more recently. */
async function removeUnfinished() {
  for (const name of await readdir(BUILDS)) {
    if (!name.includes('.')) continue;
    const path = join(BUILDS, name);
    const found = await lstat(path).catch(() => undefined);
    if (found && Date.now() - found.mtimeMs > UNFINISHED_MS) await rm(path, { recursive: true, force: true });
  }
}

/** SHA-256 of the names and contents of all sources, and of the options. */
async function digestOfSources() {
  const hash = createHash('sha256').update(licenseModule);
  for (const source of SOURCES) {
    const names = (await stat(source)).isDirectory() ? await filesIn(source) : [source];
    for (const name of names) hash.update(`\0${name}\0`).update(await readFile(name));
  }
  return hash.digest('hex').slice(0, 32);
}

async function filesIn(folder) {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name))
    .filter((name) => !/(^|\/)(node_modules|dist)\//.test(name))
    .sort();
}

function exists(path) {
  return stat(path).then(
    () => true,
    () => false,
  );
}

/** Writes the bundle, its static files and the client into a folder. */
async function bundleInto(outdir) {
  await build({
    entryPoints: ['infrastructure/cli/palimpsest.ts'],
    outdir,
    define: { PALIMPSEST_LICENSE_MODULE: licenseModule },
    bundle: true,
    splitting: true,
    packages: 'external',
    platform: 'node',
    target: 'node20',
    format: 'esm',
    sourcemap: 'linked',
    // Stack traces need file names and lines only.
    sourcesContent: false,
    logLevel: 'warning',
  });
  // Static files that the service sends. It looks for them beside the bundle.
  await cp('api/platform/docs/assets', `${outdir}/assets`, { recursive: true });
  await buildClient(`${outdir}/client`);
}
