import { expect } from 'chai';
import { readFile } from 'node:fs/promises';
import { settingsSchema } from '../../../infrastructure/configuration/settings-schema.ts';
import { settingsTable } from '../../../infrastructure/configuration/settings-table.ts';

describe('the README’s table of settings', () => {
  it('says what the declarations say (else: npx tsx ops/docs/settings-table.ts)', async () => {
    const readme = await readFile(new URL('../../../README.md', import.meta.url), 'utf8');
    const [, table] = /<!-- settings: [^\n]*-->\n([^]*?)<!-- \/settings -->/.exec(readme) ?? [];
    expect(table).to.equal(settingsTable());
  });

  it('has a JSON Schema beside it that says the same', async () => {
    const schema = await readFile(new URL('../../../ops/docs/svc.schema.json', import.meta.url), 'utf8');
    expect(JSON.parse(schema)).to.deep.equal(settingsSchema());
  });
});
