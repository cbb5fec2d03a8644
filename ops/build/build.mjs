// Bundles the project's own code into dist/ (packages stay in node_modules): a start then reads a handful of files.
import { build } from 'esbuild';
import { cp, rm } from 'node:fs/promises';
import { buildClient } from './client.mjs';

/** A build without license support: PALIMPSEST_LICENSE_MODULE=false npm run build. */
const licenseModule = process.env.PALIMPSEST_LICENSE_MODULE ?? 'true';
if (licenseModule !== 'true' && licenseModule !== 'false') throw new Error('PALIMPSEST_LICENSE_MODULE: set it to true or false');
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
  logLevel: 'warning',
});
// Files that the service sends as they are; found beside the bundle.
await cp('api/platform/docs/assets', `${outdir}/assets`, { recursive: true });
await buildClient(`${outdir}/client`);
