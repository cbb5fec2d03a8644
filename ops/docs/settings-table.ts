// Writes the table of settings into docs/configuration.md, and the JSON Schema of svc.yaml into this folder.
// Usage: npx tsx ops/docs/settings-table.ts
import { readFile, writeFile } from 'node:fs/promises';
import { settingsSchema } from '../../infrastructure/configuration/settings-schema.ts';
import { settingsTable } from '../../infrastructure/configuration/settings-table.ts';

const BLOCK = /(<!-- settings: [^\n]*-->\n)[^]*?(<!-- \/settings -->)/;

const file = new URL('../../docs/configuration.md', import.meta.url);
const text = await readFile(file, 'utf8');
if (!BLOCK.test(text)) throw new Error('docs/configuration.md lacks the settings block');
await writeFile(
  file,
  text.replace(BLOCK, (_all, start: string, end: string) => `${start}${settingsTable()}${end}`),
);
await writeFile(new URL('svc.schema.json', import.meta.url), `${JSON.stringify(settingsSchema(), undefined, 2)}\n`);
