// Builds the client of the Content API: one module for browsers and Node, and its types.
import { build } from 'esbuild';
import { createHash } from 'node:crypto';
import { cp, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';

const sources = 'api/client';
const cache = '.cache/client-types';

export async function buildClient(outdir) {
  await build({ entryPoints: [`${sources}/index.ts`], outfile: `${outdir}/index.js`, bundle: true, platform: 'neutral', target: 'es2022', format: 'esm', sourcemap: 'linked', logLevel: 'warning' });
  const names = (await readdir(sources)).filter((file) => file.endsWith('.ts')).sort();
  const texts = await Promise.all(names.map((name) => readFile(`${sources}/${name}`, 'utf8')));
  // The compiler takes longer to load than all the rest: a start has no use for it while the sources stay as they are.
  const kept = `${cache}/${createHash('sha256').update(JSON.stringify([names, texts])).digest('hex')}`;
  const copy = () => cp(kept, outdir, { recursive: true });
  await copy().catch(async () => {
    await writeDeclarations(names, texts, kept);
    await copy();
  });
}

async function writeDeclarations(names, texts, kept) {
  const { default: ts } = await import('typescript');
  const compilerOptions = { target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.ESNext, strict: true, isolatedDeclarations: true, verbatimModuleSyntax: true };
  const making = `${kept}.${process.pid}`;
  await mkdir(making, { recursive: true });
  for (const [index, name] of names.entries()) {
    const { outputText, diagnostics = [] } = ts.transpileDeclaration(texts[index], { fileName: name, compilerOptions });
    if (diagnostics.length > 0) throw new Error(`${name}: ${ts.flattenDiagnosticMessageText(diagnostics[0].messageText, '\n')}`);
    // A package holds no sources: its modules are called `.js`.
    await writeFile(`${making}/${name.replace(/\.ts$/, '.d.ts')}`, outputText.replaceAll(/(from ['"]\.\/[^'"]+)\.ts(['"])/g, '$1.js$2'));
  }
  // At once, and whoever comes first: a half-written folder is never taken.
  await rename(making, kept).catch(() => rm(making, { recursive: true, force: true }));
}
