/**
 * Options for Node.js with which a child process runs this source as a later build: its content read model has version
 * 1000. A process that builds that version waits until the file `gate` exists.
 */
export function nextBuildOptions(gate: string): string {
  const wait = `while (target.schema.includes('_next') && !(await import('node:fs')).existsSync(${JSON.stringify(gate)}))
    await new Promise((resolve) => setTimeout(resolve, 20));`;
  const hooks = `export async function load(url, context, nextLoad) {
    const loaded = await nextLoad(url, context);
    if (!url.endsWith('/projections/content/projection.ts')) return loaded;
    const source = String(loaded.source)
      .replace(/version: \\d+,/, 'version: 1000,')
      .replace('apply: projectContent,', ${JSON.stringify(
        `apply: async (tx, target, events) => { ${wait} return projectContent(tx, target, events); },`,
      )});
    if (!source.includes('1000') || !source.includes('existsSync')) throw new Error('the projection looks different');
    return { ...loaded, source };
  }`;
  const register = `import { register } from 'node:module'; register(${JSON.stringify(moduleOf(hooks))});`;
  return `--import=${moduleOf(register)}`;
}

function moduleOf(source: string): string {
  return `data:text/javascript,${encodeURIComponent(source)}`;
}
