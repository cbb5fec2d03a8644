// Builds the package `@palimpsest/client`: one module for browsers and Node, and its type declarations.
// The service's build puts it into `dist/client`. To build it alone: `node ops/build/client.mjs [directory]`.
import { build } from 'esbuild';
import { createHash } from 'node:crypto';
import { cp, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';

const PACKAGE = 'api/client';
const CACHE = '.cache/client-types';

/** Writes `index.js`, its source map and the declarations into `outdir`. */
export async function buildClient(outdir) {
  await build({
    entryPoints: [`${PACKAGE}/src/index.ts`],
    outfile: `${outdir}/index.js`,
    bundle: true,
    platform: 'neutral',
    target: 'es2022',
    format: 'esm',
    sourcemap: 'linked',
    logLevel: 'warning',
  });
  const sources = [...(await readSources('src', '.')), ...(await readSources('generated', './generated'))];
  // Loading the TypeScript compiler takes longer than the whole build. Reuse the declarations while the sources are
  // unchanged.
  const digest = createHash('sha256').update(JSON.stringify(sources)).digest('hex');
  const cached = `${CACHE}/${digest}`;
  const copy = () => cp(cached, outdir, { recursive: true });
  await copy().catch(async () => {
    await writeDeclarations(sources, cached);
    await copy();
  });
}

/** The TypeScript files of one folder of the package, each with the path of its declaration in the output. */
async function readSources(folder, target) {
  const names = (await readdir(`${PACKAGE}/${folder}`)).filter((file) => file.endsWith('.ts')).sort();
  return Promise.all(
    names.map(async (name) => ({
      name,
      declaration: `${target}/${name.replace(/\.ts$/, '.d.ts')}`,
      text: await readFile(`${PACKAGE}/${folder}/${name}`, 'utf8'),
    })),
  );
}

async function writeDeclarations(sources, directory) {
  const { default: ts } = await import('typescript');
  const compilerOptions = {
    target: ts.ScriptTarget.ES2022,
    module: ts.ModuleKind.ESNext,
    strict: true,
    isolatedDeclarations: true,
    verbatimModuleSyntax: true,
  };
  const unfinished = `${directory}.${process.pid}`;
  for (const { name, declaration, text } of sources) {
    const { outputText, diagnostics = [] } = ts.transpileDeclaration(text, { fileName: name, compilerOptions });
    if (diagnostics.length > 0)
      throw new Error(`${name}: ${ts.flattenDiagnosticMessageText(diagnostics[0].messageText, '\n')}`);
    await mkdir(dirname(`${unfinished}/${declaration}`), { recursive: true });
    await writeFile(`${unfinished}/${declaration}`, withBuiltPaths(outputText));
  }
  // Renaming is atomic: a concurrent build never copies a half-written directory. The first build wins.
  await rename(unfinished, directory).catch(() => rm(unfinished, { recursive: true, force: true }));
}

/** Imports name the source files. In the output, modules end in `.js`, and `src/` is the top of the package. */
function withBuiltPaths(text) {
  return text
    .replaceAll(/(from ['"])\.\.\/generated\//g, '$1./generated/')
    .replaceAll(/(from ['"]\.\/[^'"]+)\.ts(['"])/g, '$1.js$2');
}

if (import.meta.filename === process.argv[1]) await buildClient(process.argv[2] ?? `${PACKAGE}/dist`);
