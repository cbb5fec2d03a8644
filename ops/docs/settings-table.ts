// Writes the table of settings into README.md and the JSON Schema of svc.yaml beside this file: npx tsx ops/docs/settings-table.ts
import { readFile, writeFile } from 'node:fs/promises';
import { settingsSchema } from '../../infrastructure/configuration/settings-schema.ts';
import { settingsTable } from '../../infrastructure/configuration/settings-table.ts';

const BLOCK = /(<!-- settings: [^\n]*-->\n)[^]*?(<!-- \/settings -->)/;

const file = new URL('../../README.md', import.meta.url);
const text = await readFile(file, 'utf8');
if (!BLOCK.test(text)) throw new Error('README.md holds no place for the settings');
await writeFile(file, text.replace(BLOCK, (_all, start: string, end: string) => `${start}${settingsTable()}${end}`));
await writeFile(new URL('svc.schema.json', import.meta.url), `${JSON.stringify(settingsSchema(), undefined, 2)}\n`);
