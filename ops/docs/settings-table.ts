// Writes the table of settings into README.md: npx tsx ops/docs/settings-table.ts
import { readFile, writeFile } from 'node:fs/promises';
import { settingsTable } from '../../infrastructure/configuration/settings-table.ts';

const BLOCK = /(<!-- settings: [^\n]*-->\n)[^]*?(<!-- \/settings -->)/;

const file = new URL('../../README.md', import.meta.url);
const text = await readFile(file, 'utf8');
if (!BLOCK.test(text)) throw new Error('README.md holds no place for the settings');
await writeFile(file, text.replace(BLOCK, (_all, start: string, end: string) => `${start}${settingsTable()}${end}`));
