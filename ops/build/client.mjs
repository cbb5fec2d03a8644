// Builds the client of the Content API: one module for browsers and Node, and its types.
import { build } from 'esbuild';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';

const sources = 'api/client';

export async function buildClient(outdir) {
  await build({ entryPoints: [`${sources}/index.ts`], outfile: `${outdir}/index.js`, bundle: true, platform: 'neutral', target: 'es2022', format: 'esm', sourcemap: 'linked', logLevel: 'warning' });
  const { default: ts } = await import('typescript');
  await mkdir(outdir, { recursive: true });
  for (const name of (await readdir(sources)).filter((file) => file.endsWith('.ts'))) {
    const text = await readFile(`${sources}/${name}`, 'utf8');
    const { outputText, diagnostics = [] } = ts.transpileDeclaration(text, { fileName: name, compilerOptions: { target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.ESNext, strict: true, isolatedDeclarations: true, verbatimModuleSyntax: true } });
    if (diagnostics.length > 0) throw new Error(`${name}: ${ts.flattenDiagnosticMessageText(diagnostics[0].messageText, '\n')}`);
    await writeFile(`${outdir}/${name.replace(/\.ts$/, '.d.ts')}`, outputText.replaceAll(/(from ')(\.\/[^']+)\.ts'/g, "$1$2.js'").replaceAll(/(from ")(\.\/[^"]+)\.ts"/g, '$1$2.js"'));
  }
}
