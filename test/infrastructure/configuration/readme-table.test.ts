import { expect } from 'chai';
import { readFile } from 'node:fs/promises';
import { settingsTable } from '../../../infrastructure/configuration/settings-table.ts';

describe('the README’s table of settings', () => {
  it('says what the declarations say (else: npx tsx ops/docs/settings-table.ts)', async () => {
    const readme = await readFile(new URL('../../../README.md', import.meta.url), 'utf8');
    const [, table] = /<!-- settings: [^\n]*-->\n([^]*?)<!-- \/settings -->/.exec(readme) ?? [];
    expect(table).to.equal(settingsTable());
  });
});
