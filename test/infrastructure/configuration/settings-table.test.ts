import { expect } from 'chai';
import { readFile } from 'node:fs/promises';
import { settingsSchema } from '../../../infrastructure/configuration/settings-schema.ts';
import { settingsTable } from '../../../infrastructure/configuration/settings-table.ts';

describe('docs/configuration.md', () => {
  it('lists every declared setting (regenerate: npx tsx ops/docs/settings-table.ts)', async () => {
    const document = await readFile(new URL('../../../docs/configuration.md', import.meta.url), 'utf8');
    const [, table] = /<!-- settings: [^\n]*-->\n([^]*?)<!-- \/settings -->/.exec(document) ?? [];
    expect(table).to.equal(settingsTable());
  });

  it('agrees with ops/docs/svc.schema.json', async () => {
    const schema = await readFile(new URL('../../../ops/docs/svc.schema.json', import.meta.url), 'utf8');
    expect(JSON.parse(schema)).to.deep.equal(settingsSchema());
  });
});
