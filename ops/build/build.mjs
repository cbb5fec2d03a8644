// Bundles the project's own code into dist/, so that a start reads few files. Packages stay in node_modules.
// Usage: node ops/build/build.mjs [directory]
import { build } from 'esbuild';
import { cp, rm } from 'node:fs/promises';
import { buildClient } from './client.mjs';

/** `PALIMPSEST_LICENSE_MODULE=false npm run build` builds without license support. */
const licenseModule = process.env.PALIMPSEST_LICENSE_MODULE ?? 'true';
if (licenseModule !== 'true' && licenseModule !== 'false')
  throw new Error('PALIMPSEST_LICENSE_MODULE must be true or false');
const outdir = process.argv[2] ?? 'dist';

await rm(outdir, { recursive: true, force: true });
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
